import { expect, it, onTestFinished } from 'vitest';
import { Emitter } from '../../../src/base/event.js';
import type { TaskRecord } from '../../../src/tasks/task.js';
import type { TaskLink } from '../../../src/tasks/task-host.js';
import { TaskWatch } from '../../../src/tasks/watch/task-watch.js';
import { TaskUnreachable } from '../../../src/tasks/unreachable.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { sampleRecord, TASK_ID } from '../sample-task.js';

const running = sampleRecord({ status: 'running' });

class Link implements TaskLink {
  readonly changes = new Emitter<number>();
  readonly closes = new Emitter<void>();
  readonly onRecord = new Emitter<TaskRecord>().event;
  readonly onDidChange = this.changes.event;
  readonly onDidClose = this.closes.event;
  readonly respond = notAsked;
  readonly message = notAsked;
  readonly kill = notAsked;
  readonly screen = notAsked;
  isDisposed = false;

  dispose(): void {
    this.isDisposed = true;
  }
}

function notAsked(): Promise<never> {
  return Promise.reject(new Error('not asked of this link'));
}

/** A watch of tasks whose keeper answers each connection with the next of `answers`; the last one stands for all later. */
function watching(
  answers: readonly (Link | undefined | Error)[],
  { isOne = true, records = [running] }: { isOne?: boolean; records?: TaskRecord[] } = {},
) {
  const clock = new ManualClock();
  const told: (number | undefined)[] = [];
  let connections = 0;
  const watch = new TaskWatch({
    clock,
    isOne,
    host: {
      launch: () => Promise.reject(new Error('nothing is launched here')),
      connect: async () => {
        const answer = answers[Math.min(connections++, answers.length - 1)];
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
    records: async () => records,
    onChange: (_taskId, changeSeq) => told.push(changeSeq),
  });
  onTestFinished(() => watch.dispose());
  return { clock, told, watch, records, connections: () => connections };
}

it.each([
  { keeper: 'does not answer', answer: new TaskUnreachable(TASK_ID, 'connect EAGAIN') },
  { keeper: 'is not there', answer: undefined },
])('a task whose keeper $keeper is told to be read, and is looked at again', async ({ answer }) => {
  const link = new Link();
  const { clock, told } = watching([answer, link]);
  await expect.poll(() => clock.timerCount).toBe(1);
  expect(told).toEqual([undefined]);
  clock.advance(1_000);
  await expect.poll(() => link.changes.hasListeners).toBe(true);
  link.changes.fire(7);
  expect(told).toEqual([undefined, 7]);
});

it('one task that cannot be reached keeps none of the others from being followed', async () => {
  const link = new Link();
  const other = sampleRecord({ status: 'running', task_id: 'task_99999999999999999999' });
  const { told } = watching([new TaskUnreachable(TASK_ID, 'connect EAGAIN'), link], {
    isOne: false,
    records: [running, other],
  });
  await expect.poll(() => link.changes.hasListeners).toBe(true);
  link.changes.fire(3);
  expect(told).toContain(3);
});

it('a keeper that hangs up is told, let go of, and reached again while its task goes on', async () => {
  const [first, second] = [new Link(), new Link()];
  const { clock, told } = watching([first, second]);
  await expect.poll(() => first.closes.hasListeners).toBe(true);
  first.closes.fire();
  expect(told).toEqual([undefined]);
  expect(first.isDisposed).toBe(true);
  clock.advance(1_000);
  await expect.poll(() => second.changes.hasListeners).toBe(true);
});

it('a task that has ended is looked at once more and then no longer', async () => {
  const link = new Link();
  const { clock, connections, records } = watching([link]);
  await expect.poll(() => link.closes.hasListeners).toBe(true);
  records.pop();
  link.closes.fire();
  clock.advance(1_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(clock.timerCount).toBe(0);
  expect(connections()).toBe(1);
});

it('a watch that is disposed lets go of its keeper, tells nothing more and looks no more', async () => {
  const link = new Link();
  const { clock, told, watch } = watching([link]);
  await expect.poll(() => link.closes.hasListeners).toBe(true);
  watch.dispose();
  expect(link.isDisposed).toBe(true);
  link.closes.fire();
  expect(told).toEqual([]);
  expect(clock.timerCount).toBe(0);
});

it('a session without a keeper is told when it changes, and when it is gone', async () => {
  const session = sampleRecord({ status: 'running', keeper: null, change_seq: 5 });
  const { clock, told, records } = watching([undefined], { records: [session] });
  await expect.poll(() => clock.timerCount).toBe(1);
  clock.advance(500);
  await expect.poll(() => clock.timerCount).toBe(1);
  expect(told).toEqual([]);
  records[0] = { ...session, change_seq: 6 };
  clock.advance(500);
  await expect.poll(() => told).toEqual([6]);
  await expect.poll(() => clock.timerCount).toBe(1);
  records.pop();
  clock.advance(500);
  await expect.poll(() => told).toEqual([6, undefined]);
});

it('of all tasks, one without a keeper is told when it appears after the first look', async () => {
  const session = sampleRecord({ status: 'running', keeper: null, change_seq: 5 });
  const { clock, told, records } = watching([undefined], { isOne: false, records: [session] });
  await expect.poll(() => clock.timerCount).toBe(1);
  expect(told).toEqual([]);
  records.push({ ...session, task_id: 'task_99999999999999999999', change_seq: 8 });
  clock.advance(1_000);
  await expect.poll(() => told).toEqual([8]);
  await expect.poll(() => clock.timerCount).toBe(1);
  clock.advance(1_000);
  await expect.poll(() => clock.timerCount).toBe(1);
  expect(told).toEqual([8]);
});
