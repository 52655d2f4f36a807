import { setTimeout as pause } from 'node:timers/promises';
import { figuresOf, memoryOf } from './figures.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, createWorkplace } from './workplace.js';

const ROUNDS = 21;
/** Memory is read when the start's garbage has had time to go. */
const IDLE_MS = 3_000;

/** Process start to `tools/list` answered in milliseconds, and idle memory in MB, beside the bundled minimal server in turn. */
export async function measureStart(): Promise<unknown> {
  const workplace = await createWorkplace();
  const { env, minimalServer } = workplace;
  try {
    const times = { bridge: new Array<number>(), minimal: new Array<number>() };
    for (let round = 0; round <= ROUNDS; round++) {
      const bridge = await startOnce(BRIDGE, env);
      const minimal = await startOnce(minimalServer, env);
      await bridge.client.close();
      await minimal.client.close();
      // The first round fills the disk cache.
      if (round === 0) continue;
      times.bridge.push(bridge.ms);
      times.minimal.push(minimal.ms);
    }
    const bridgeMemory = await idleMemory(BRIDGE, env);
    const minimalMemory = await idleMemory(minimalServer, env);
    return {
      bridgeMs: figuresOf(times.bridge),
      minimalMs: figuresOf(times.minimal),
      // Of neighbours: what slows the machine for a while slows both.
      ratio: figuresOf(times.bridge.map((ms, round) => ms / (times.minimal[round] ?? NaN))).median,
      bridgeMemory,
      minimalMemory,
      memoryRatio: bridgeMemory.rss / minimalMemory.rss,
    };
  } finally {
    workplace.dispose();
  }
}

async function startOnce(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ client: StdioClient; ms: number }> {
  const startMs = performance.now();
  const client = new StdioClient(command, env);
  await client.initialize();
  await client.request('tools/list', {});
  return { client, ms: performance.now() - startMs };
}

async function idleMemory(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ rss: number; pss: number }> {
  const { client } = await startOnce(command, env);
  await pause(IDLE_MS);
  const { rss, pss } = memoryOf(client.pid);
  await client.close();
  return { rss, pss };
}
