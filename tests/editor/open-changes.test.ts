import { beforeEach, expect, test } from 'vitest';
import { toDisposable, type Disposable } from '../../src/base/lifecycle.js';
import { emptyDiff, type DiffAction, type DiffState } from '../../src/board/state.js';
import type { ChannelListener } from '../../vscode/src/board/followed.js';
import type { TaskDocument } from '../../vscode/src/tasks/changes/document-uri.js';
import { FollowedDiffs, type DiffSource } from '../../vscode/src/tasks/changes/followed-diffs.js';
import { OpenChanges } from '../../vscode/src/tasks/changes/open-changes.js';
import { ManualClock } from '../harness/manual-clock.js';
import { OTHER_ID, TASK_ID } from '../tools/fake-task-service.js';

const LIMIT_MS = 40_000;
const left: TaskDocument = { taskId: TASK_ID, file: 'a.js', side: 'old', name: 'a.js' };
const right: TaskDocument = { ...left, side: 'new' };

/** A connection whose channels do what a test says. */
class ScriptedBoard implements DiffSource {
  /** What was followed and left, in this order. */
  readonly said: string[] = [];
  listener: ChannelListener<DiffState, DiffAction> | undefined;

  follow(channel: string, listener: ChannelListener<DiffState, DiffAction>): Disposable {
    this.said.push(`follow ${channel}`);
    this.listener = listener;
    return toDisposable(() => void this.said.push(`leave ${channel}`));
  }
}

let board: ScriptedBoard;
let clock: ManualClock;
let diffs: FollowedDiffs;
let open: OpenChanges;

beforeEach(() => {
  board = new ScriptedBoard();
  clock = new ManualClock();
  diffs = new FollowedDiffs(board, clock);
  open = new OpenChanges(diffs);
});

test('what a task changed is followed from its first open document to the last', () => {
  const other = { ...left, file: 'b.js', name: 'b.js' };
  expect(open.show([left])).toEqual([left]);
  expect(open.show([left, right, left, other])).toEqual([right, other]);
  expect(board.said).toEqual([`follow diff:/${TASK_ID}`]);
  open.show([other]);
  expect(board.said).toHaveLength(1);
  open.show([left]);
  expect(board.said).toHaveLength(1);
  open.show([]);
  expect(board.said).toEqual([`follow diff:/${TASK_ID}`, `leave diff:/${TASK_ID}`]);
  open.show([left]);
  expect(board.said).toHaveLength(3);
});

test('a list of files and an open diff share one channel, which the last of them leaves', () => {
  const held = diffs.hold(TASK_ID);
  open.show([left]);
  held.dispose();
  held.dispose();
  expect(board.said).toEqual([`follow diff:/${TASK_ID}`]);
  open.show([]);
  expect(board.said.at(-1)).toBe(`leave diff:/${TASK_ID}`);
});

test('tasks are followed each for itself, and all are left when the part ends', () => {
  open.show([left, { ...left, taskId: OTHER_ID }]);
  expect(open.all()).toEqual([
    { taskId: TASK_ID, file: 'a.js' },
    { taskId: OTHER_ID, file: 'a.js' },
  ]);
  expect(open.all(OTHER_ID)).toHaveLength(1);
  open.dispose();
  diffs.dispose();
  expect(board.said.slice(2)).toEqual([`leave diff:/${TASK_ID}`, `leave diff:/${OTHER_ID}`]);
});

test('the first state is waited for, and later ones are reported', async () => {
  const changed: string[] = [];
  diffs.onChange((taskId) => changed.push(taskId));
  const { ready } = diffs.hold(TASK_ID);
  board.listener?.changed(emptyDiff);
  expect(await ready).toBe(emptyDiff);
  const later = { ...emptyDiff, why: 'The task changed nothing.' };
  board.listener?.changed(later);
  expect([diffs.of(TASK_ID), changed]).toEqual([later, [TASK_ID, TASK_ID]]);
});

test('whoever waits gets the reason when the board refuses, sends nothing in 40 s, or the part ends', async () => {
  const refused = diffs.hold(TASK_ID);
  board.listener?.refused?.(new Error('There is no such task.'));
  await expect(refused.ready).rejects.toThrow('There is no such task.');
  refused.dispose();
  const silent = diffs.hold(TASK_ID);
  clock.advance(LIMIT_MS);
  await expect(silent.ready).rejects.toThrow('The board does not say what the task changed.');
  const ended = diffs.hold(OTHER_ID);
  diffs.dispose();
  await expect(ended.ready).rejects.toThrow('It is followed no longer.');
  expect(clock.timerCount).toBe(0);
});

test('a state that came after a refusal is there for the next one who asks', async () => {
  const first = diffs.hold(TASK_ID);
  board.listener?.refused?.(new Error('The task does not answer.'));
  await expect(first.ready).rejects.toThrow('The task does not answer.');
  board.listener?.changed(emptyDiff);
  expect(await diffs.hold(TASK_ID).ready).toBe(emptyDiff);
});

test('the file on disk belongs to its change until the diff is closed', () => {
  open.setPlace(left, '/app/a.js');
  open.show([]);
  open.show([left]);
  expect(open.atPlace('/app/a.js')).toEqual({ taskId: TASK_ID, file: 'a.js' });
  expect(open.atPlace('/app/b.js')).toBeUndefined();
  open.show([]);
  expect([open.atPlace('/app/a.js'), open.placeOf(left), open.isOpen(left)]).toEqual([
    undefined,
    undefined,
    false,
  ]);
});

test('a change of what is open is reported once', () => {
  let changes = 0;
  open.onChange(() => changes++);
  open.show([left, right]);
  open.show([right, left]);
  expect([changes, open.documents(TASK_ID)]).toEqual([1, [left, right]]);
  open.show([]);
  expect([changes, open.documents(TASK_ID)]).toEqual([2, []]);
});

test('a file that two tasks changed belongs to the task whose diff was in front last', () => {
  const others = { ...left, taskId: OTHER_ID };
  let changes = 0;
  open.show([left, others], TASK_ID);
  open.setPlace(left, '/p/a.js');
  open.setPlace(others, '/p/a.js');
  open.onChange(() => changes++);
  expect(open.atPlace('/p/a.js')?.taskId).toBe(TASK_ID);
  open.show([left, others], OTHER_ID);
  expect([open.atPlace('/p/a.js')?.taskId, changes]).toEqual([OTHER_ID, 1]);
  // Another tab is in front, without a diff.
  open.show([left, others]);
  expect([open.atPlace('/p/a.js')?.taskId, changes]).toEqual([OTHER_ID, 1]);
  open.show([left]);
  expect(open.atPlace('/p/a.js')?.taskId).toBe(TASK_ID);
});
