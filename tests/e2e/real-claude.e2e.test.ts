import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeRealClaude } from '../harness/real-claude.js';
import { startBridge } from '../harness/start-bridge.js';

describeRealClaude('a task for the real CLI', ({ binary }) => {
  it.each(['modern', 'legacy', 'foreign'] as const)('creates a file after an approval (%s client)', async (era) => {
    const bridge = await startBridge({
      claude: binary,
      era,
      script: [
        { say: 'I will.', tools: [{ name: 'Bash', input: { command: 'echo hi > hello.txt', description: 'write' } }] },
        { say: 'All written.' },
      ],
    });
    const id = await bridge.start({ prompt: 'Write it.', path: bridge.project, permission_mode: 'cautious' });
    expect(await bridge.answerNext(id, { verdict: 'allow' })).toMatchObject({ kind: 'permission', tool: 'Bash' });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed', exit_code: 0, last_output: 'All written.' });
    expect(await readFile(join(bridge.project, 'hello.txt'), 'utf8')).toBe('hi\n');
  });
});
