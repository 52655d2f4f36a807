import { expect, it } from 'vitest';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';
import { soakRounds } from '../../harness/seeded-random.js';

const TRIES = 1_000;

it('of two servers that start in one project at the same instant one does, a thousand times', async () => {
  const bridge = await startBridge({ claude: scriptedAgent });
  const other = await bridge.another();
  const tries = soakRounds(TRIES);
  for (let count = 0; count < tries; count++) {
    const common = { prompt: 'AGENT: never-exits', path: bridge.project };
    const started = await Promise.allSettled([bridge.start(common), other.start(common)]);
    const ids = started.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    const refusals = started.flatMap((one) => (one.status === 'rejected' ? String(one.reason) : []));
    expect([ids.length, refusals.length], refusals.join('\n')).toEqual([1, 1]);
    expect(refusals[0]).toContain('TASK_ALREADY_RUNNING');
    await bridge.call('kill_task', { task_id: ids[0] });
  }
  process.stdout.write(`${tries} tries, each with one owner\n`);
});
