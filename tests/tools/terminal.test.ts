import { describe, expect, test } from 'vitest';
import { openTerminalTools } from './terminal-tools.js';

describe('list_terminals', () => {
  test('shows every window with its folders, and the terminals in it with who made them', async () => {
    const tools = await openTerminalTools();
    const editor = await tools.open();
    editor.addTerminal('t1', tools.project).print('hello\n');
    const other = await tools.open({ folders: ['/elsewhere'], trusted: false });
    expect(await tools.answer('list_terminals')).toEqual({
      windows: [
        { editor: 'Visual Studio Code 1.100.3', folders: ['/elsewhere'], trusted: false, terminals: [] },
        {
          editor: 'Visual Studio Code 1.100.3',
          folders: [tools.project],
          trusted: true,
          terminals: [
            {
              terminal_id: 't1',
              name: 'Terminal',
              created_by: 'other',
              kind: 'shell',
              shell: '/bin/bash',
              cwd: tools.project,
              state: 'idle',
              exit_code: null,
              cursor: 6,
            },
          ],
        },
      ],
    });
    expect([...editor.clients, ...other.clients]).toEqual(['Test client', 'Test client']);
    await expect.poll(() => editor.connections + other.connections).toBe(0);
  });

  test('says what to do when no window is open', async () => {
    const tools = await openTerminalTools();
    const { windows, note } = await tools.answer('list_terminals');
    expect(windows).toEqual([]);
    expect(note).toMatch(/^No window of VS Code .* is open\. Ask the user to open the project in VS Code/);
  });
});
