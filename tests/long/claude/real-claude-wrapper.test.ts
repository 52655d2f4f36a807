import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeRealClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge } from '../../harness/start-bridge.js';

describeRealClaude('a wrapper around the real CLI', ({ binary }) => {
  it('asks in mode cautious as the CLI by its own name does', async () => {
    const bridge = await startBridge({
      claude: `env ${binary}`,
      script: [runs('echo hi > hello.txt', 'I will.'), says('All written.')],
    });
    const id = await bridge.start({ prompt: 'Write.', permission_mode: 'cautious' });
    expect(await bridge.answerNext(id, { verdict: 'allow' })).toMatchObject({
      kind: 'permission',
      tool: 'Bash',
    });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'All written.' });
  });

  it('of another name is driven in mode auto as the CLI by its own name is', async () => {
    const bridge = await startBridge({
      claude: (workplace) => {
        const path = join(workplace.root, 'agent.sh');
        return writeFile(path, `#!/bin/sh\nexec ${binary} "$@"\n`, { mode: 0o755 }).then(() => path);
      },
      trusted: false,
      script: [runs('echo hi > hello.txt', 'I will.'), says('All written.')],
    });
    const id = await bridge.start({ prompt: 'Write.' });
    expect(await bridge.end(id)).toMatchObject({ status: 'completed', last_output: 'All written.' });
  });
});
