import { rmSync } from 'node:fs';
import { z } from 'zod';
import { figuresOf } from './figures.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, createWorkplace, stampsOf } from './workplace.js';

const RUNS = 12;
const waitSchema = z.object({
  cursor: z.string(),
  tasks: z.array(z.object({ task_id: z.string(), status: z.string() })),
});
const startSchema = z.object({ task_id: z.string() });
const endedStatuses = new Set(['completed', 'failed', 'timeout', 'killed', 'error']);

/** `start_task` until it is answered and the agent runs; the agent's end until a client in `wait_for_task` knows. Milliseconds. */
export async function measureDelegate(): Promise<unknown> {
  const workplace = await createWorkplace({}, 'claude');
  const client = new StdioClient(BRIDGE, workplace.env);
  const times = { answered: new Array<number>(), started: new Array<number>(), known: new Array<number>() };
  try {
    await client.initialize();
    for (let run = 0; run <= RUNS; run++) {
      rmSync(workplace.stamps, { force: true });
      const callMs = Date.now();
      const taskId = await startTask(client, 'BENCH-SLEEP 0.3', workplace.project('delegate'));
      const answerMs = Date.now();
      await waitForEnd(client, taskId);
      const knownMs = Date.now();
      // The first run fills the disk cache.
      if (run === 0) continue;
      times.answered.push(answerMs - callMs);
      times.started.push((stampsOf(workplace, 'start')[0] ?? NaN) - callMs);
      times.known.push(knownMs - (stampsOf(workplace, 'end')[0] ?? NaN));
    }
  } finally {
    await client.close();
    workplace.dispose();
  }
  return {
    answeredMs: figuresOf(times.answered),
    agentStartedMs: figuresOf(times.started),
    endKnownMs: figuresOf(times.known),
  };
}

/** Starts a task with the stand-in agent; its id. */
export async function startTask(client: StdioClient, prompt: string, path: string): Promise<string> {
  return startSchema.parse(await client.call('start_task', { prompt, path })).task_id;
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
