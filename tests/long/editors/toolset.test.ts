import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedBrowser } from '../../harness/board-page.js';
import { editorToolset } from '../../harness/editor-toolset.js';
import { describeWith } from '../../harness/needs.js';
import type { TaskClient } from '../../harness/task-client.js';
import { editorsOfForm } from '../../harness/task-editor.js';
import { sharedEditor } from '../../harness/vscode-server.js';

const browser = sharedBrowser();

describeWith('editors', 'the toolset terminal', () => {
  describe.each(editorsOfForm())('the toolset terminal in VS Code $version', (installed) => {
    const editor = sharedEditor({ installed }, browser);
    let bridge: TaskClient;

    beforeAll(async () => {
      const { server } = editor();
      await mkdir(join(server.home, 'elsewhere'));
      bridge = await editorToolset(server);
    });

    afterAll(() => bridge.mcp.close());

    test('runs commands where the user sees them, with output and exit code', async () => {
      const { page, server } = editor();
      const first = await bridge.call('execute', { command: 'echo hello; pwd; (exit 3)' });
      expect(first).toMatchObject({
        state: 'ended',
        exit_code: 3,
        text: `hello\n${server.project}\n`,
      });
      const terminalId = first['terminal_id'];
      const next = await bridge.call('execute', { command: 'printf "\\033[31mred\\033[0m\\n"' });
      expect(next).toMatchObject({ terminal_id: terminalId, exit_code: 0, text: 'red\n' });
      const { windows } = await bridge.call('list_terminals');
      expect(windows).toMatchObject([
        {
          folders: [server.project],
          trusted: true,
          terminals: [
            { terminal_id: terminalId, created_by: 'claude-code-bridge-tests', state: 'idle', exit_code: 0 },
          ],
        },
      ]);
      await page.getByText('Terminal (claude-code-bridge-tests)').first().waitFor();
    });

    test('follows a command that runs longer than a call, and refuses another one beside it', async () => {
      const made = await bridge.call('create_terminal', { name: 'build', env: { STEP: 'two' } });
      const id = made['terminal_id'];
      const command = 'echo one; sleep 4; echo $STEP; (exit 2)';
      const started = await bridge.call('execute', { terminal_id: id, command, timeout_seconds: 1 });
      expect(started).toMatchObject({ state: 'running', exit_code: null, text: 'one\n' });
      await expect(bridge.call('execute', { terminal_id: id, command: 'true' })).rejects.toThrow(
        /^TERMINAL_BUSY: /,
      );
      const read = await bridge.call('read_terminal', {
        terminal_id: id,
        cursor: started['cursor'],
        wait_seconds: 40,
      });
      expect(read).toMatchObject({ state: 'idle', exit_code: 2, text: 'two\n', more: false });
    });

    test('answers a command that asks, and interrupts one', async () => {
      const asked = await bridge.call('execute', {
        command: 'read -p "Go on? " x; echo "got $x"; sleep 600',
        timeout_seconds: 2,
      });
      expect(asked['state']).toBe('running');
      const id = asked['terminal_id'];
      const answered = await bridge.call('execute', { terminal_id: id, text: 'yes', keys: ['enter'] });
      expect(answered['state']).toBe('running');
      expect(answered['text']).toContain('got yes\n');
      const ended = await bridge.call('execute', { terminal_id: id, keys: ['ctrl-c'] });
      expect(ended).toMatchObject({ state: 'ended', exit_code: 130 });
    });

    test('gives the newest part of much output, and all of it by cursor', async () => {
      const whole = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join('');
      const ran = await bridge.call('execute', { command: 'seq 20000', max_bytes: 1_000 });
      expect(ran['exit_code']).toBe(0);
      expect(whole.endsWith(String(ran['text']))).toBe(true);
      let cursor = Number(ran['from']) - Number(ran['left_out']);
      let text = '';
      while (cursor < Number(ran['cursor'])) {
        const page = await bridge.call('read_terminal', {
          terminal_id: ran['terminal_id'],
          cursor,
          max_bytes: 50_000,
        });
        text += String(page['text']);
        cursor = Number(page['cursor']);
      }
      expect(text.slice(0, whole.length)).toBe(whole);
    });

    test('says so when the user takes the terminal away, when a shell is not there, and when no window has a folder', async () => {
      const { server, client } = editor();
      const made = await bridge.call('create_terminal', {});
      const id = String(made['terminal_id']);
      const running = bridge.call('execute', { terminal_id: id, command: 'sleep 30' });
      const failed = expect(running).rejects.toThrow(/^TERMINAL_CLOSED: /);
      await expect
        .poll(async () => (await client.askFor('terminals', { type: 'list_terminals' })).terminals)
        .toContainEqual(expect.objectContaining({ terminalId: id, state: 'busy' }));
      await client.askFor('success', { type: 'close_terminal', terminalId: id });
      await failed;
      await expect(bridge.call('create_terminal', { shell: 'no-such-shell' })).rejects.toThrow(
        /^PROGRAM_NOT_FOUND: .*no-such-shell/,
      );
      await expect(
        bridge.call('execute', { command: 'true', path: join(server.home, 'elsewhere') }),
      ).rejects.toThrow(
        `EDITOR_NOT_FOUND: No window of VS Code has '${join(server.home, 'elsewhere')}' open. Open are: ${server.project}`,
      );
    });

    test.runIf(installed.isNewest)('does not hang on a command that is not complete', async () => {
      const { terminal_id: id } = await bridge.call('create_terminal', {});
      const ran = await bridge.call('execute', {
        terminal_id: id,
        command: "echo 'never closed",
        timeout_seconds: 45,
      });
      expect(ran['state']).toBe('ended');
      expect(ran['exit_code']).not.toBe(0);
      const next = await bridge.call('execute', { terminal_id: id, command: 'echo after' });
      expect(next).toMatchObject({ state: 'ended', exit_code: 0, text: 'after\n' });
    });

    test('closes a terminal', async () => {
      const made = await bridge.call('create_terminal', {});
      const id = made['terminal_id'];
      await bridge.call('close_terminal', { terminal_id: id });
      await expect(bridge.call('read_terminal', { terminal_id: id })).rejects.toThrow(
        /^TERMINAL_NOT_FOUND: /,
      );
    });
  });
});
