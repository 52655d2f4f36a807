// Pure: which ended tasks, or parts of them, the history has no room for.
import { countedNoun } from '../../base/text.js';
import type { TaskPurpose } from '../task.js';

const DAY_MS = 86_400_000;

/** What is counted together in the history. */
export type HistoryKind = 'native' | TaskPurpose;

/** An ended task and the bytes of its files in the state directory. */
export interface StoredTask {
  readonly id: string;
  readonly kind: HistoryKind;
  /** Milliseconds since the epoch. */
  readonly endedMs: number;
  readonly bytes: TaskBytes;
}

/** `task`: the record, the receipt, the prompt, and what is left. */
export type TaskBytes = Readonly<Record<TaskPart, number>>;

/** In the order in which they go: a recording is the largest and says the least. */
export const taskParts = ['recording', 'logs', 'task'] as const;
export type TaskPart = (typeof taskParts)[number];

export interface HistoryBounds {
  /** How many of each kind stay. */
  readonly count: Readonly<Record<HistoryKind, number>>;
  readonly days: number;
  /** Of all tasks together. */
  readonly bytes: number;
}

export interface Removal {
  readonly id: string;
  /** `task`: all of it. */
  readonly part: TaskPart;
  readonly why: 'number' | 'age' | 'size';
}

/** What goes, in this order, by number, by age, then by size; `tasks` are the newest first. */
export function planHistory(
  tasks: readonly StoredTask[],
  { count, days, bytes }: HistoryBounds,
  nowMs: number,
): readonly Removal[] {
  const left = { ...count };
  const removals: Removal[] = [];
  const stay: StoredTask[] = [];
  for (const task of tasks) {
    left[task.kind]--;
    if (left[task.kind] < 0) removals.push({ id: task.id, part: 'task', why: 'number' });
    else if (nowMs - task.endedMs > days * DAY_MS) removals.push({ id: task.id, part: 'task', why: 'age' });
    else stay.push(task);
  }
  const all = stay.flatMap((task) => taskParts.map((part) => task.bytes[part]));
  let tooMany = all.reduce((sum, part) => sum + part, 0) - bytes;
  for (const part of taskParts) {
    for (const task of stay.toReversed()) {
      if (tooMany <= 0) return removals;
      if (task.bytes[part] === 0) continue;
      tooMany -= task.bytes[part];
      removals.push({ id: task.id, part, why: 'size' });
    }
  }
  return removals;
}

const nouns = { recording: 'recording', logs: 'log', task: 'task' } as const;
const settings = {
  number: 'task_history_size',
  age: 'task_history_days',
  size: 'task_history_bytes',
} as const;

/** What went, by part and setting, in words; undefined for nothing. */
export function removalWords(removals: readonly Removal[], nowMs: number): string | undefined {
  const counts = taskParts.flatMap((part) =>
    (['number', 'age', 'size'] as const).flatMap((why) => {
      const count = removals.filter((one) => one.part === part && one.why === why).length;
      return count === 0 ? [] : [`${countedNoun(count, nouns[part])} (${settings[why]})`];
    }),
  );
  if (counts.length === 0) return undefined;
  return `Removed from the history at ${new Date(nowMs).toISOString()}: ${counts.join(', ')}.`;
}
