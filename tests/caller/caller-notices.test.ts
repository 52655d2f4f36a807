import { expect, onTestFinished, test } from 'vitest';
import { Emitter } from '../../src/base/event.js';
import { silentLogger } from '../../src/base/logger.js';
import { CallerCalls } from '../../src/caller/caller-calls.js';
import { CallerNotices } from '../../src/caller/caller-notices.js';
import type { WaitOutcome } from '../../src/tasks/task-service.js';
import type { TaskRecord } from '../../src/tasks/task.js';
import { ManualClock } from '../harness/manual-clock.js';
import { sampleDecision } from '../tasks/sample-decision.js';
import { sampleRecord, TASK_ID } from '../tasks/sample-task.js';

const CHILD = 'task_ffffffffffffffffffff';
const LOOK_MS = 1_500;

/** A server whose client has started a task; `reports` is what its task becomes. */
function server({ isTold = true, children = [] as string[] } = {}) {
  const clock = new ManualClock();
  const starts = new Emitter<TaskRecord>();
  const calls = new CallerCalls(clock);
  const waits = new Map<string, (outcome: WaitOutcome) => void>();
  const sent: string[] = [];
  const notices = new CallerNotices({
    tasks: {
      onDidStart: starts.event,
      wait: ({ taskIds: [taskId = ''] }) => new Promise((resolve) => waits.set(taskId, resolve)),
    },
    childrenOf: (taskId) => Promise.resolve(taskId === TASK_ID ? children : []),
    calls,
    route: () =>
      isTold
        ? {
            send: ({ text }) => {
              sent.push(text.replace(/^claude-code-bridge: | For more, .*$/g, ''));
              return Promise.resolve();
            },
          }
        : undefined,
    clock,
    logger: silentLogger,
  });
  onTestFinished(() => notices.dispose());
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  const reports = async (more: Partial<TaskRecord>): Promise<void> => {
    const record = sampleRecord(more);
    waits.get(record.task_id)?.({ tasks: [record], changed: [record.task_id], cursor: '' });
    await settled();
  };
  const starting = async (): Promise<void> => {
    starts.fire(sampleRecord());
    await settled();
  };
  return { clock, calls, sent, waits, notices, reports, starting };
}

const asks = (...ids: string[]): Partial<TaskRecord> => ({
  status: 'waiting',
  decisions: ids.map((decision_id) => sampleDecision({ decision_id })),
});
const ASKS = `${TASK_ID} in app is waiting and needs a decision.`;
const ENDS = `${TASK_ID} in app has ended: completed.`;

test('a caller that does not follow its task hears once that it asks, and once that it has ended', async () => {
  const { clock, sent, reports, starting } = server();
  await starting();
  await reports(asks('dec_1'));
  clock.advance(LOOK_MS - 1);
  expect(sent).toEqual([]);
  clock.advance(1);
  await reports(asks('dec_1'));
  await reports({ status: 'running' });
  clock.advance(60_000);
  expect(sent).toEqual([ASKS]);
  await reports({ status: 'completed' });
  clock.advance(60_000);
  expect(sent).toEqual([ASKS, ENDS]);
});

test('several decisions at once are one notice, and a later one is another', async () => {
  const { clock, sent, reports, starting } = server();
  await starting();
  await reports(asks('dec_1', 'dec_2'));
  clock.advance(LOOK_MS);
  expect(sent).toEqual([ASKS]);
  await reports(asks('dec_2', 'dec_3'));
  clock.advance(LOOK_MS);
  expect(sent).toEqual([ASKS, ASKS]);
});

test('a caller does not hear what the answer of its call has shown it', async () => {
  const { clock, calls, sent, reports, starting } = server();
  await starting();
  calls.began();
  await reports({ status: 'completed' });
  clock.advance(45_000);
  expect(sent).toEqual([]);
  calls.ended({ tasks: [{ task_id: TASK_ID, status: 'completed' }] });
  clock.advance(60_000);
  expect(sent).toEqual([]);
});

test('a caller that calls again soon is not told in between, and hears what its calls do not show', async () => {
  const { clock, calls, sent, reports, starting } = server();
  await starting();
  const polls = (): void => {
    calls.began();
    clock.advance(5_000);
    calls.ended({ tasks: [] });
    clock.advance(9_000);
  };
  polls();
  await reports(asks('dec_1'));
  polls();
  polls();
  expect(sent).toEqual([]);
  clock.advance(2 * LOOK_MS);
  expect(sent).toEqual([ASKS]);
});

test('calls about something else postpone a notice, and not for ever', async () => {
  const { clock, calls, sent, reports, starting } = server();
  await starting();
  calls.began();
  await reports({ status: 'completed' });
  clock.advance(89_000);
  expect(sent).toEqual([]);
  clock.advance(3_000);
  expect(sent).toEqual([ENDS]);
});

test('a decision that somebody answered meanwhile is no news', async () => {
  const { clock, sent, reports, starting } = server();
  await starting();
  await reports(asks('dec_1'));
  await reports({ status: 'running' });
  clock.advance(LOOK_MS);
  expect(sent).toEqual([]);
});

test('tasks that a task started are reported, too', async () => {
  const { clock, sent, reports, starting } = server({ children: [CHILD] });
  await starting();
  await reports({ status: 'running' });
  await reports({ ...asks('dec_1'), task_id: CHILD, parent: { task_id: TASK_ID, depth: 1 } });
  clock.advance(LOOK_MS);
  expect(sent).toEqual([`${CHILD} is waiting and needs a decision.`]);
});

test('without a way to the caller no task is followed', async () => {
  const { waits, starting } = server({ isTold: false });
  await starting();
  expect(waits.size).toBe(0);
});

test('nothing is sent after the server has ended', async () => {
  const { clock, sent, notices, reports, starting } = server();
  await starting();
  await reports(asks('dec_1'));
  notices.dispose();
  clock.advance(60_000);
  expect(sent).toEqual([]);
  expect(clock.timerCount).toBe(0);
});
