import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { figuresOf, type Figures } from './figures.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, createWorkplace, type Workplace } from './workplace.js';
import { writeTask } from './write-task.js';

const RECORDS = 200;
const ROUNDS = 15;

export interface RecoveryFigures {
  readonly emptyMs: Figures;
  readonly fullMs: Figures;
  readonly ratio: number;
}

/** Process start to `initialize` answered, with no record and with 200 of tasks whose keepers are dead. */
export async function measureRecovery(): Promise<RecoveryFigures> {
  const times = { empty: new Array<number>(), full: new Array<number>() };
  const workplace = await createWorkplace();
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      const empty = await startOnce(workplace, 0);
      const full = await startOnce(workplace, RECORDS);
      // The first round fills the disk cache.
      if (round === 0) continue;
      times.empty.push(empty);
      times.full.push(full);
    }
  } finally {
    workplace.dispose();
  }
  const emptyMs = figuresOf(times.empty);
  const fullMs = figuresOf(times.full);
  return { emptyMs, fullMs, ratio: fullMs.median / emptyMs.median };
}

/** With a state of its own: what an earlier server settled would not be looked at again. */
async function startOnce(workplace: Workplace, records: number): Promise<number> {
  rmSync(join(workplace.folder, 'state'), { recursive: true, force: true });
  for (let index = 0; index < records; index++) writeTask(workplace, { status: 'running' });
  const startMs = performance.now();
  const client = new StdioClient(BRIDGE, workplace.env);
  await client.initialize();
  const ms = performance.now() - startMs;
  await client.close();
  return ms;
}
