import { figuresOf, memoryOf, type Figures } from './figures.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, createWorkplace } from './workplace.js';

const ROUNDS = 21;
/** Memory is looked at when the start's garbage has had time to go. */
const IDLE_MS = 3_000;

export interface StartFigures {
  readonly bridgeMs: Figures;
  readonly minimalMs: Figures;
  readonly ratio: number;
  readonly bridgeMemory: { readonly rss: number; readonly pss: number };
  readonly minimalMemory: { readonly rss: number; readonly pss: number };
  readonly memoryRatio: number;
}

/** Process start to `tools/list` answered, and idle memory, beside the bundled minimal server in turn. */
export async function measureStart(): Promise<StartFigures> {
  const workplace = await createWorkplace();
  try {
    const times = { bridge: new Array<number>(), minimal: new Array<number>() };
    for (let round = 0; round <= ROUNDS; round++) {
      const bridge = await startOnce(BRIDGE, workplace.env);
      const minimal = await startOnce(workplace.minimalServer, workplace.env);
      await bridge.client.close();
      await minimal.client.close();
      // The first round fills the disk cache.
      if (round === 0) continue;
      times.bridge.push(bridge.ms);
      times.minimal.push(minimal.ms);
    }
    const bridgeMemory = await idleMemory(BRIDGE, workplace.env);
    const minimalMemory = await idleMemory(workplace.minimalServer, workplace.env);
    const bridgeMs = figuresOf(times.bridge);
    const minimalMs = figuresOf(times.minimal);
    return {
      bridgeMs,
      minimalMs,
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
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const { rss, pss } = memoryOf(client.pid);
  await client.close();
  return { rss, pss };
}
