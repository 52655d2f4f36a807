import { expect, it } from 'vitest';
import { describeRealClaude } from '../harness/real-claude.js';
import { runs, says } from '../harness/scripted-turns.js';
import { startBridge } from '../harness/start-bridge.js';

describeRealClaude('a wrapper around the real CLI', ({ binary }) => {
  it('asks in mode cautious as the CLI by its own name does', async () => {
    const bridge = await startBridge({
      claude: `env ${binary}`,
      script: [runs('echo hi > hello.txt', 'I will.'), says('All written.')],
    });
    const id = await bridge.start({ prompt: 'Write.', path: bridge.project, permission_mode: 'cautious' });
    expect(await bridge.answerNext(id, { verdict: 'allow' })).toMatchObject({
      kind: 'permission',
      tool: 'Bash',
    });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'All written.' });
  });
});
