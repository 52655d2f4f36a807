import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { editorsFolder, readEditorWindows } from '../../../src/editor/discovery.js';
import { sharedBrowser } from '../../harness/board-page.js';
import { EditorClient } from '../../harness/editor-client.js';
import { describeWith } from '../../harness/needs.js';
import { editorsOfForm, editorToolset } from '../../harness/task-editor.js';
import type { TaskClient } from '../../harness/task-client.js';
import { until } from '../../harness/until.js';
import { runCommand, sharedEditor } from '../../harness/vscode-server.js';

const browser = sharedBrowser();
const LAYOUT_STORED_MS = 2_500;

describeWith('editors', 'windows of an editor', () => {
  describe.each(editorsOfForm())('a window of VS Code $version', (installed) => {
    const editor = sharedEditor({ installed }, browser);
    const whole = test.runIf(installed.isNewest);

    async function toolset(): Promise<TaskClient> {
      const bridge = await editorToolset(editor().server);
      onTestFinished(() => bridge.mcp.close());
      return bridge;
    }

    test('has the fixed port, and a file in which programs find it', () => {
      const { window, server } = editor();
      expect(window).toMatchObject({ port: server.port, folders: [server.project], trusted: true });
      expect(window.editor).toContain(installed.version);
    });

    test('that is loaded again has its port again, and leaves its terminals to the person', async () => {
      const { page, client, server } = editor();
      await client.askFor('terminal_created', { type: 'create_terminal', id: 'left', name: 'left' });
      await client.run('LEFT=yes', 'left');
      // The editor stores which terminals it shows half a second after a change, and reports it to no extension.
      await sleep(LAYOUT_STORED_MS);
      const before = new Set((await readEditorWindows(server.statePath)).map(({ id }) => id));
      const closed = once(client.socket, 'close');
      await page.reload();
      await closed;
      const window = await server.newWindow(before);
      expect(window.port).toBe(server.port);
      await editor().reconnect(window);
      await page.getByText('left (tester)').first().waitFor();
      expect(await editor().client.askFor('terminals', { type: 'list_terminals' })).toMatchObject({
        terminals: [],
      });
      const bridge = await toolset();
      const ran = await bridge.call('execute', { command: 'echo ${LEFT-new}' });
      expect(ran).toMatchObject({ state: 'ended', exit_code: 0, text: 'new\n' });
    });

    whole('shows that programs can connect, and ends it and begins it again by commands', async () => {
      const { page, window, client, server } = editor();
      await page.getByText('MCP Connected').waitFor();
      const closed = once(client.socket, 'close');
      await runCommand(page, 'Claude Terminal Bridge: Disconnect from MCP Server');
      await closed;
      await page.getByText('MCP Disconnected').waitFor();
      expect(await readEditorWindows(server.statePath)).toEqual([]);
      await runCommand(page, 'Claude Terminal Bridge: Connect to MCP Server');
      const again = await server.newWindow(new Set());
      expect(again.token).not.toBe(window.token);
      await page.getByText(`listening on ws://localhost:${server.port}`).first().waitFor();
      await editor().reconnect(again);
    });

    whole('shows who made a terminal, and lets the person take it away', async () => {
      const { page, client } = editor();
      await client.ask({ type: 'create_terminal', id: 'seen', name: 'seen' });
      await page.getByText('seen (tester)').first().waitFor();
      await runCommand(page, 'Terminal: Kill the Active Terminal Instance');
      const seen = await client.message((one) => one.type === 'terminal_closed' && one.terminalId === 'seen');
      expect(seen).toMatchObject({ by: 'person' });
    });

    test('is one of two, each with a port and terminals of its own', async () => {
      const { server, client, window } = editor();
      const folder = join(server.home, 'other');
      const second = await server.open(await browser(), await server.folder('other'));
      expect(second.window.port).not.toBe(window.port);
      expect(second.window.folders).toEqual([folder]);
      const other = await EditorClient.connect(second.window);
      onTestFinished(() => other.close());
      await other.askFor('terminal_created', { type: 'create_terminal', id: 'second' });
      expect(await other.run('pwd', 'second')).toMatchObject({ output: `${folder}\n` });
      const { terminals } = await client.askFor('terminals', { type: 'list_terminals' });
      expect(terminals.map(({ terminalId }) => terminalId)).not.toContain('second');
      const bridge = await toolset();
      expect((await bridge.call('execute', { command: 'pwd', path: folder }))['text']).toBe(`${folder}\n`);
      expect((await bridge.call('execute', { command: 'pwd', path: server.project }))['text']).toBe(
        `${server.project}\n`,
      );
      await runCommand(second.page, 'Claude Terminal Bridge: Connect to MCP Server');
      const holder = `port ${server.port} is taken by the window of VS Code with ${server.project}`;
      await second.page.getByText(holder).first().waitFor();
      await second.page.context().close();
      const ids = async (): Promise<string[]> =>
        (await readEditorWindows(server.statePath)).map(({ id }) => id);
      await until('the window has gone', async () => !(await ids()).includes(second.window.id));
    });

    whole('lets a program without a token in when its person says so, and never its workspace', async () => {
      const { page, window, server } = editor();
      const folder = join(server.project, '.vscode');
      await mkdir(folder, { recursive: true });
      const setting = { 'claudeTerminalBridge.allowWithoutToken': true };
      await writeFile(join(folder, 'settings.json'), JSON.stringify(setting));
      await runCommand(page, 'Notifications: Clear All Notifications');
      const notice = page.locator('.notification-list-item').filter({ hasText: 'showed no token' });
      const allow = notice.getByRole('button', { name: 'Allow Clients without a Token' });
      const before = await EditorClient.connect(window, {});
      const closed = once(before.socket, 'close');
      const refused = await before.askFor('error', { type: 'hello', client: 'third' });
      expect(refused.error).toContain(join(editorsFolder(server.statePath), `${window.id}.json`));
      await closed;
      await allow.waitFor();
      await page.waitForTimeout(500);
      await allow.click();
      const machine = join(server.home, 'user', 'Machine', 'settings.json');
      await until('the setting is of the person', async () =>
        (await readFile(machine, 'utf8')).includes('allowWithoutToken'),
      );
      const again = await server.untilWindow(({ token }) => token !== window.token);
      const after = await EditorClient.connect(again, {});
      expect(await after.ask({ type: 'ping', id: 'p' })).toEqual({ type: 'pong', id: 'p' });
      await after.close();
    });
  });
});
