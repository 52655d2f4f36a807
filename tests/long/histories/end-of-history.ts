import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import { systemCodeOf } from '../../../src/base/errors.js';
import { ProjectLocks } from '../../../src/store/project-lock.js';
import { isFinal } from '../../../src/tasks/task.js';
import type { TestBridge } from '../../harness/start-bridge.js';
import { until } from '../../harness/until.js';
import { LIST_LIMIT } from './caller.js';
import { FaultyServer } from './faulty-server.js';
import type { Recorder } from './recorder.js';

/** A kill of a keeper that hangs takes twenty seconds. */
const QUIET = { timeout: 120_000, interval: 200 };

/** Kills what runs until every server says of every task that it has ended. */
export async function allEnded(servers: readonly FaultyServer[], recorder: Recorder): Promise<void> {
  await expect.poll(() => stillActive(servers, recorder), QUIET).toEqual([]);
}

async function stillActive(servers: readonly FaultyServer[], recorder: Recorder): Promise<string[]> {
  const found: string[] = [];
  for (const server of servers) {
    const { name, client } = await server.running;
    const { answer } = await recorder.call(name, client, 'list_tasks', { limit: LIST_LIMIT });
    if (answer.kind !== 'tasks') {
      found.push(`${name}: ${JSON.stringify(answer)}`);
      continue;
    }
    found.push(...(answer.unreadable ?? []).map((taskId) => `${taskId} is unreadable for ${name}`));
    for (const { taskId, status } of answer.tasks.filter((task) => !isFinal(task.status))) {
      found.push(`${taskId} is ${status} for ${name}`);
      await recorder.call(name, client, 'kill_task', { task_id: taskId });
    }
  }
  return found;
}

/** Every server tells all that it knows of every task. */
export async function lastLook(servers: readonly FaultyServer[], recorder: Recorder): Promise<void> {
  for (const server of servers) {
    const { name, client } = await server.running;
    const atEnd = { atEnd: true };
    const { answer } = await recorder.call(name, client, 'list_tasks', { limit: LIST_LIMIT }, atEnd);
    if (answer.kind !== 'tasks') continue;
    for (const { taskId } of answer.tasks) {
      await recorder.call(name, client, 'get_task_status', { task_id: taskId }, atEnd);
      await recorder.record(name, client, taskId, atEnd);
    }
  }
}

/**
 * Closes the servers, and starts one more, whose first call removes what killed keepers left; then no process, socket, lock or ticket of the queue may be left. What a process that was killed in its
 * critical section left is taken over by the next process that enters one: here this one.
 */
export async function nothingLeft(
  bridge: TestBridge,
  servers: readonly FaultyServer[],
  recorder: Recorder,
): Promise<void> {
  for (const server of servers) await (await server.running).client.close();
  const folder = join(bridge.workplace.stateDir, 'sockets');
  const sockets = async (): Promise<string[]> =>
    (await namesIn(folder)).filter((socket) => socket.endsWith('.sock'));
  // Those of a keeper that was killed while it started are removed when they are old.
  for (const socket of await sockets()) await utimes(join(folder, socket), 0, 0);
  const { name, client } = await new FaultyServer(bridge, 'last').running;
  await recorder.call(name, client, 'list_tasks', { limit: 1 });
  await until('the sockets of killed keepers are gone', async () => expect(await sockets()).toEqual([]));
  await client.close();
  const locks = new ProjectLocks(join(bridge.workplace.stateDir, 'locks'), systemClock, () => undefined);
  await locks.exclusively(() => Promise.resolve());
  await bridge.workplace.settled();
  expect(await namesIn(join(bridge.workplace.stateDir, 'queue'))).toEqual([]);
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    // Nothing ever waited.
    if (systemCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}
