import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
import { editorToolset } from '../../harness/task-editor.js';
import { runCommand, sharedEditor } from '../../harness/vscode-server.js';

const browser = sharedBrowser();

describeWith('editors', 'trust in an editor', () => {
  describe.each(inject('vscodes').filter(({ isNewest }) => isNewest))(
    'an untrusted workspace in VS Code $version',
    (installed) => {
      const editor = sharedEditor(
        {
          installed,
          withTrust: true,
          settings: { 'security.workspace.trust.startupPrompt': 'never' },
        },
        browser,
      );

      test('lets a program connect, and creates and runs nothing until the person trusts it', async () => {
        const { client, window, page } = editor();
        expect(window.trusted).toBe(false);
        for (const request of [
          { type: 'create_terminal', id: 'x' },
          { type: 'execute', command: 'touch made' },
          { type: 'input', terminalId: 'x', text: 'a' },
        ] as const)
          expect(await client.ask(request)).toMatchObject({ type: 'error', code: 'UNTRUSTED_WORKSPACE' });
        const bridge = await editorToolset(editor().server);
        onTestFinished(() => bridge.mcp.close());
        await expect(bridge.call('execute', { command: 'touch made' })).rejects.toThrow(
          /^UNTRUSTED_WORKSPACE: /,
        );
        await runCommand(page, 'Workspaces: Manage Workspace Trust');
        await page
          .locator('.workspace-trust-editor .monaco-button')
          .filter({ hasText: /^Trust$/ })
          .click();
        const trusted = await editor().server.untilWindow((one) => one.trusted);
        await editor().reconnect(trusted);
        await editor().client.askFor('terminal_created', { type: 'create_terminal', id: 'x' });
        expect(await editor().client.run('echo trusted', 'x')).toMatchObject({ output: 'trusted\n' });
      });
    },
  );
});
