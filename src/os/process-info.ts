// Pure.
import type { Pid } from './pid.js';

/** One living process of the process table. What the system does not report is undefined, never 0. */
export interface ProcessInfo {
  readonly pid: Pid;
  /** Undefined for the first process, and for one whose parent is in another pid namespace. */
  readonly parentPid: Pid | undefined;
  readonly group: Pid | undefined;
  readonly session: Pid | undefined;
  /**
   * When it started: ticks since boot (/proc), or date and time in UTC to the second (`ps`). It tells apart two processes that had
   * the same pid one after the other.
   */
  readonly startId: string;
  /** The name of the program, for reports. */
  readonly name: string;
}

/** `mark` is undefined for a process without one, and for one whose environment may not be read. */
export interface MarkedProcess extends ProcessInfo {
  readonly mark: string | undefined;
}

/** What records store to identify a process. */
export type ProcessKey = Pick<ProcessInfo, 'pid' | 'startId'>;

export function isSameKey(one: ProcessKey, other: ProcessKey): boolean {
  return one.pid === other.pid && one.startId === other.startId;
}

/** True when `one` is certainly earlier than `other`. False for starts from different sources, which cannot be compared. */
export function startedBefore(one: string, other: string): boolean {
  const [a, b] = [startOf(one), startOf(other)];
  return a.unit === b.unit && a.value < b.value;
}

function startOf(startId: string): { readonly unit: 'ticks' | 'ms'; readonly value: number } {
  if (/^\d+$/.test(startId)) return { unit: 'ticks', value: Number(startId) };
  // NaN for anything else: every comparison with it is false.
  return { unit: 'ms', value: Date.parse(`${startId} UTC`) };
}
