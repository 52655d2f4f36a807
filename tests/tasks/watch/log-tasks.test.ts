import { expect, test, vi } from 'vitest';
import { Emitter } from '../../../src/base/event.js';
import { createStderrLogger } from '../../../src/base/logger.js';
import type { TaskRecord } from '../../../src/tasks/task.js';
import type { WaitOutcome } from '../../../src/tasks/task-service.js';
import { logTasks } from '../../../src/tasks/watch/log-tasks.js';
import { TASK_ID, taskRecord } from '../../tools/fake-task-service.js';

/** Tasks whose next state the test gives, and the log of them. */
function logged() {
  const lines: string[] = [];
  const starts = new Emitter<TaskRecord>();
  const waits: ((outcome: WaitOutcome) => void)[] = [];
  const log = logTasks(
    {
      onDidStart: starts.event,
      wait: ({ signal }) =>
        new Promise((resolve, reject) => {
          waits.push(resolve);
          signal.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    },
    createStderrLogger('info', (line) => lines.push(line.slice(27).trimEnd())),
  );
  const next = async (changes: Partial<TaskRecord>): Promise<void> => {
    await vi.waitFor(() => expect(waits).not.toEqual([]));
    waits.shift()?.({ tasks: [taskRecord(changes)], changed: [TASK_ID], cursor: 'c' });
  };
  return { lines, starts, log, next };
}

test('logs the start and the end of a task, and nothing of what it printed', async () => {
  const { lines, starts, log, next } = logged();
  starts.fire(taskRecord());
  await next({ activity: 'Bash: echo a-secret' });
  await next({ status: 'failed', exit_code: 3, reason: 'The agent exited with code 3: a-secret' });
  await vi.waitFor(() => expect(lines).toHaveLength(2));
  expect(lines).toEqual([
    `[INFO] Task started: ${TASK_ID} {"project":"/home/ann/app"}`,
    `[INFO] Task failed: ${TASK_ID} {"exit_code":3,"signal":null}`,
  ]);
  log.dispose();
});

test('logs that a task waits in the queue, and when it starts', async () => {
  const { lines, starts, log, next } = logged();
  starts.fire(taskRecord({ status: 'pending', started_at: null }));
  await next({ status: 'pending', started_at: null, queue_position: 2 });
  await next({});
  await next({ status: 'killed', reason: 'Enough.' });
  await vi.waitFor(() => expect(lines).toHaveLength(3));
  expect(lines.map((line) => line.replace(/ \{.*/, ''))).toEqual([
    `[INFO] Task queued: ${TASK_ID}`,
    `[INFO] Task started: ${TASK_ID}`,
    `[INFO] Task killed: ${TASK_ID}`,
  ]);
  log.dispose();
});

test('follows no task any more when it is disposed', async () => {
  const { lines, starts, log } = logged();
  starts.fire(taskRecord());
  log.dispose();
  starts.fire(taskRecord());
  expect(lines).toHaveLength(1);
});
