import { rmSync } from 'node:fs';
import { z } from 'zod';
import { figuresOf } from './figures.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, createWorkplace, stampsOf } from './workplace.js';

const RUNS = 12;
const waitSchema = z.object({ cursor: z.string(), tasks: z.array(z.object({ status: z.string() })) });
const startSchema = z.object({ task_id: z.string() });
const endedStatuses = new Set(['completed', 'failed', 'timeout', 'killed', 'error']);

/** `start_task` until it is answered; the agent's end until a client in `wait_for_task` knows. Milliseconds. */
export async function measureDelegate(): Promise<unknown> {
  const workplace = await createWorkplace({}, 'claude');
  const client = await StdioClient.open(BRIDGE, workplace.env);
  const answered: number[] = [];
  const known: number[] = [];
  try {
    // The first run fills the disk cache.
    for (let run = 0; run <= RUNS; run++) {
      rmSync(workplace.stamps, { force: true });
      const callMs = Date.now();
      const taskId = await startTask(client, 'BENCH-SLEEP 0.3', workplace.project('delegate'));
      answered[run] = Date.now() - callMs;
      await waitForEnd(client, taskId);
      known[run] = Date.now() - (stampsOf(workplace, 'end')[0] ?? NaN);
    }
  } finally {
    await client.close();
    workplace.dispose();
  }
  return { answeredMs: figuresOf(answered.slice(1)), endKnownMs: figuresOf(known.slice(1)) };
}

/** Starts a task with the stand-in agent; its id. */
export async function startTask(client: StdioClient, prompt: string, path: string): Promise<string> {
  return startSchema.parse(await client.call('start_task', { prompt, path })).task_id;
}

/** Follows tasks until all have ended; resolves with the status of each. */
export async function waitForEnd(client: StdioClient, ...taskIds: readonly string[]): Promise<string[]> {
  let since = {};
  for (;;) {
    const answer = await client.call('wait_for_task', { task_ids: taskIds, ...since });
    const { cursor, tasks } = waitSchema.parse(answer);
    since = { cursor };
    if (tasks.every(({ status }) => endedStatuses.has(status))) return tasks.map(({ status }) => status);
  }
}
