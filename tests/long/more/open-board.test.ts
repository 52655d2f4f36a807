import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openStateDir } from '../../../src/store/state-dir.js';
import { endsWithTest } from '../../harness/board-process.js';
import { startBridge } from '../../harness/start-bridge.js';
import { quickAgent } from '../../harness/scripted-agent.js';
import { createWorkplace } from '../../harness/workplace.js';

it('open_board gives a link that opens one page, and says what runs', async () => {
  const bridge = await startBridge({ claude: quickAgent });
  const taskId = await bridge.start({ prompt: 'AGENT: never-exits' });
  const first = await bridge.call('open_board', {});
  endsWithTest(bridge);
  expect(first).toMatchObject({ tasks: [{ task_id: taskId, prompt: 'AGENT: never-exits' }] });
  const links = [first, await bridge.call('open_board', {})].map(({ url }) => new URL(String(url)));
  expect(new Set(links.map(({ host }) => host)).size).toBe(1);
  for (const { origin, hash } of links) {
    const asked = () =>
      fetch(`${origin}/token`, {
        method: 'POST',
        headers: { origin, 'content-type': 'application/json' },
        body: JSON.stringify({ code: hash.slice('#code='.length) }),
      });
    expect((await asked()).status).toBe(200);
    expect((await asked()).status).toBe(401);
  }
  await bridge.call('kill_task', { task_id: taskId });
});

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
