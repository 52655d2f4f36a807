import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { waitForEnd } from './delegate.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, createWorkplace } from './workplace.js';

const TASKS = 20;
/** Keepers end right after their tasks; this long after the last one nothing may be left. */
const SETTLE_MS = 1_000;

export interface ManyTasksFigures {
  readonly tasks: number;
  readonly completed: number;
  readonly seconds: number;
  readonly processesLeft: number;
  readonly locksLeft: number;
}

/** Twenty tasks in twenty projects at once, each printing and sleeping a little. */
export async function measureManyTasks(): Promise<ManyTasksFigures> {
  const workplace = await createWorkplace();
  const client = new StdioClient(BRIDGE, workplace.env);
  try {
    await client.initialize();
    const startMs = performance.now();
    const started = await Promise.all(
      Array.from({ length: TASKS }, (_, index) =>
        client.call('start_task', { prompt: 'BENCH-SLEEP 0.5', path: workplace.project(`project-${index}`) }),
      ),
    );
    const ids = started.map((answer) => z.object({ task_id: z.string() }).parse(answer).task_id);
    const statuses = await waitForEnd(client, ...ids);
    const seconds = (performance.now() - startMs) / 1000;
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    return {
      tasks: TASKS,
      completed: statuses.filter((status) => status === 'completed').length,
      seconds,
      processesLeft: processesOf(workplace.folder, client.pid),
      locksLeft: readdirSync(join(workplace.folder, 'state', 'locks')).length,
    };
  } finally {
    await client.close();
    workplace.dispose();
  }
}

/** Processes other than the server whose environment names the workplace. */
function processesOf(folder: string, serverPid: number): number {
  return readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && Number(pid) !== serverPid && environmentOf(pid).includes(folder),
  ).length;
}

/** Empty for a process that is gone or another user's. */
function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}
