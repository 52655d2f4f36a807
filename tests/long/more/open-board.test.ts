import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openStateDir } from '../../../src/store/state-dir.js';
import { endsWithTest } from '../../harness/board-process.js';
import { startBridge } from '../../harness/start-bridge.js';
import { quickAgent } from '../../harness/scripted-agent.js';
import { createWorkplace } from '../../harness/workplace.js';

it('a log that many boards have written begins anew', async () => {
  const workplace = await createWorkplace();
  const log = join(workplace.stateDir, 'board', 'board.log');
  await openStateDir({ path: workplace.stateDir });
  await mkdir(join(workplace.stateDir, 'board'), { recursive: true, mode: 0o700 });
  await writeFile(log, 'a line of an earlier board\n'.repeat(50_000));
  const bridge = await startBridge({ claude: quickAgent, workplace });
  await bridge.call('open_board', {});
  endsWithTest(bridge);
  expect((await stat(log)).size).toBeLessThan(10_000);
});
