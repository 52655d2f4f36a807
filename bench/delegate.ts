import { existsSync, readFileSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { figuresOf, type Figures } from './figures.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, createWorkplace } from './workplace.js';

const RUNS = 12;
const waitSchema = z.object({
  cursor: z.string(),
  tasks: z.array(z.object({ task_id: z.string(), status: z.string() })),
});
const startSchema = z.object({ task_id: z.string() });
const endedStatuses = new Set(['completed', 'failed', 'timeout', 'killed', 'error']);

export interface DelegateFigures {
  /** Milliseconds from the call to its answer, to the agent's first instruction, and from its last one to the waiting client. */
  readonly answeredMs: Figures;
  readonly agentStartedMs: Figures;
  readonly endKnownMs: Figures;
}

/** `start_task` until it is answered and the agent runs; the agent's end until a client in `wait_for_task` knows. */
export async function measureDelegate(): Promise<DelegateFigures> {
  const workplace = await createWorkplace({}, 'claude');
  const client = new StdioClient(BRIDGE, workplace.env);
  try {
    await client.initialize();
    const answered: number[] = [];
    const started: number[] = [];
    const known: number[] = [];
    for (let run = 0; run <= RUNS; run++) {
      rmSync(workplace.stamps, { force: true });
      const callMs = Date.now();
      const { task_id } = startSchema.parse(
        await client.call('start_task', { prompt: 'BENCH-SLEEP 0.3', path: workplace.project('delegate') }),
      );
      const answerMs = Date.now();
      await waitForEnd(client, task_id);
      const knownMs = Date.now();
      if (run === 0) continue;
      answered.push(answerMs - callMs);
      started.push(stampOf(workplace.stamps, 'start') - callMs);
      known.push(knownMs - stampOf(workplace.stamps, 'end'));
    }
    return {
      answeredMs: figuresOf(answered),
      agentStartedMs: figuresOf(started),
      endKnownMs: figuresOf(known),
    };
  } finally {
    await client.close();
    workplace.dispose();
  }
}

/** Follows tasks until all have ended; resolves with the status of each. */
export async function waitForEnd(client: StdioClient, ...taskIds: readonly string[]): Promise<string[]> {
  let cursor: string | undefined;
  for (;;) {
    const answer = waitSchema.parse(
      await client.call('wait_for_task', { task_ids: taskIds, ...(cursor === undefined ? {} : { cursor }) }),
    );
    cursor = answer.cursor;
    if (answer.tasks.every((task) => endedStatuses.has(task.status)))
      return answer.tasks.map((task) => task.status);
  }
}

function stampOf(file: string, word: 'start' | 'end'): number {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return Number(new RegExp(`^${word} ([\\d.]+)`, 'm').exec(text)?.[1] ?? NaN) * 1000;
}
