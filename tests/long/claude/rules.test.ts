import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

const RULES = [
  { rule: 'Bash(touch *)', verdict: 'deny', reason: 'Files are made with the Write tool here.' },
  { rule: 'Bash(ls secrets)', verdict: 'deny', reason: 'Nobody looks in there.' },
  { rule: 'Read(private.txt)', verdict: 'deny', reason: 'That file is private.' },
  { rule: 'Bash(mkdir *)', verdict: 'allow', reason: 'Folders do no harm.' },
  { rule: 'Bash(ls *)', verdict: 'allow', reason: 'Names do no harm.' },
  { rule: 'Bash(git --version)', verdict: 'allow', reason: 'It is a number.' },
];

describeNewestClaude('rules of the settings', ({ binary }) => {
  it.each(['interactive', 'print', 'background'] as const)(
    'deny with a reason that the model reads, and allow without asking (%s driver)',
    async (driver) => {
      const bridge = await startBridge({
        claude: binary,
        env: { MCP_RULES: JSON.stringify(RULES) },
        script: (request) => {
          switch (request.toolResults.length === 0 ? 0 : Math.floor((request.messageCount - 1) / 2)) {
            case 0:
              return runs('true && touch never.txt');
            case 1:
              return runs('ls secrets');
            case 2:
              return { tools: [{ name: 'Read', input: { file_path: `${bridge.project}/private.txt` } }] };
            case 3:
              return runs('mkdir made');
            case 4:
              return runs('ls && git --version');
            default:
              return says('All done.');
          }
        },
      });
      await writeFile(join(bridge.project, 'private.txt'), 'hidden words');
      const id = await bridge.start({
        prompt: 'Go.',
        path: bridge.project,
        permission_mode: 'cautious',
        driver,
      });
      expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'All done.' });
      expect(existsSync(join(bridge.project, 'never.txt'))).toBe(false);
      expect(existsSync(join(bridge.project, 'made'))).toBe(true);
      const told = bridge.api.requests.flatMap((request) => request.toolResults).map(({ text }) => text);
      expect(
        told.some((text) => text.includes('Files are made with the Write tool here. (touch never.txt)')),
      ).toBe(true);
      expect(told.some((text) => text.includes('Nobody looks in there.'))).toBe(true);
      expect(told.some((text) => text.includes('That file is private.'))).toBe(true);
      expect(told.some((text) => text.includes('hidden words'))).toBe(false);
      const closed = await bridge.events(id, 'decision-closed');
      expect(closed.map(({ tool, verdict, answered_by }) => [tool, verdict, answered_by].join(' '))).toEqual([
        'Bash deny rule',
        'Bash deny rule',
        'Read deny rule',
        'Bash allow rule',
        'Bash allow rule',
      ]);
      expect(JSON.stringify(closed)).toContain('Bash(mkdir *): Folders do no harm.');
    },
  );
});
