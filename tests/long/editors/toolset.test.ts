import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedBrowser } from '../../harness/board-page.js';
import { describeWith } from '../../harness/needs.js';
import type { TaskClient } from '../../harness/task-client.js';
import { editorsOfForm, editorToolset } from '../../harness/task-editor.js';
import { sharedEditor } from '../../harness/vscode-server.js';

const browser = sharedBrowser();

describeWith('editors', 'the toolset terminal', () => {
  describe.each(editorsOfForm())('the toolset terminal in VS Code $version', (installed) => {
    const editor = sharedEditor({ installed }, browser);
    let bridge: TaskClient;

    beforeAll(async () => {
      bridge = await editorToolset(editor().server);
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
  });
});
