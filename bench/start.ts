import { setTimeout as pause } from 'node:timers/promises';
import { inTurn, memoryOf } from './figures.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, createWorkplace } from './workplace.js';

const ROUNDS = 20;
/** Memory is read when the start's garbage has had time to go. */
const IDLE_MS = 3_000;

/** Process start to `tools/list` answered in milliseconds, and idle memory in MB, beside the bundled minimal server. */
export async function measureStart(): Promise<unknown> {
  const { env, minimalServer, dispose } = await createWorkplace();
  const running: StdioClient[] = [];
  const start = async (command: readonly string[]): Promise<number> => {
    const client = await StdioClient.open(command, env);
    running.push(client);
    await client.request('tools/list', {});
    return client.pid;
  };
  const close = async (): Promise<void> => {
    for (const client of running.splice(0)) await client.close();
  };
  try {
    const times = await inTurn({
      rounds: ROUNDS,
      before: close,
      own: () => start(BRIDGE),
      floor: () => start(minimalServer),
    });
    await close();
    const pids = [await start(BRIDGE), await start(minimalServer)];
    await pause(IDLE_MS);
    const [bridgeMb = NaN, minimalMb = NaN] = pids.map((pid) => memoryOf(pid).rss);
    return { ...times, bridgeMb, minimalMb, memoryRatio: bridgeMb / minimalMb };
  } finally {
    await close();
    dispose();
  }
}
