import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { systemCodeOf } from '../base/errors.js';

/** A process by more than its number: a pid alone may be reused. The same shape as in a task's record. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Kernel start time in clock ticks since boot (Linux) or `ps -o lstart` in UTC (macOS); null where unknown. */
  readonly start_time: string | null;
  readonly boot_id: string | null;
}

/** `unknown`: the system did not say, so it may be neither signalled nor taken for dead. */
export type ProcessState = 'alive' | 'gone' | 'unknown';

/** Positions in `/proc/<pid>/stat` counted behind the name: field 3 (state) and field 22 (start time) of proc(5). */
const STATE_FIELD = 0;
const START_TIME_FIELD = 19;
/** ps and sysctl answer within milliseconds. */
const COMMAND_LIMIT_MS = 5_000;

/**
 * Who runs under this pid now; undefined when nobody does (a zombie has ended). `start_time` is null when the system does
 * not say. Holds within one pid namespace: a process of another container is not seen.
 */
export async function identityOf(
  pid: number,
  platform: NodeJS.Platform = process.platform,
): Promise<ProcessIdentity | undefined> {
  const startTime = platform === 'linux' ? linuxStartTime(pid) : await psStartTime(pid);
  if (startTime === undefined) return undefined;
  return {
    pid,
    start_time: startTime,
    boot_id: platform === 'linux' ? linuxBootId() : await darwinBootId(),
  };
}

/** The identity of this process. */
export async function ownIdentity(): Promise<ProcessIdentity> {
  return (await identityOf(process.pid)) ?? { pid: process.pid, start_time: null, boot_id: null };
}

/** Whether that very process still runs: same pid, same start time, same boot. */
export async function processState(identity: ProcessIdentity): Promise<ProcessState> {
  const now = await identityOf(identity.pid);
  if (now === undefined) return 'gone';
  if (differs(now.boot_id, identity.boot_id) || differs(now.start_time, identity.start_time)) return 'gone';
  return now.start_time === null || identity.start_time === null ? 'unknown' : 'alive';
}

/** True only when it is certain: what is to be signalled must pass this. */
export async function isSameProcess(identity: ProcessIdentity): Promise<boolean> {
  return (await processState(identity)) === 'alive';
}

/** Start time in a `/proc/<pid>/stat`; undefined for a zombie. The name in it may hold spaces and brackets. */
export function startTimeInStat(stat: string): string | null | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[STATE_FIELD];
  if (state === 'Z' || state === 'X') return undefined;
  return fields[START_TIME_FIELD] ?? null;
}

/** Start time in the answer of `ps -o stat= -o lstart=`; undefined for a zombie and when there is no such process. */
export function startTimeInPs(answer: string): string | null | undefined {
  const [, state, started] = /^\s*(\S+)\s+(.*\S)\s*$/.exec(answer) ?? [];
  if (state === undefined || state.startsWith('Z')) return undefined;
  return started?.replace(/\s+/g, ' ') ?? null;
}

function differs(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && a !== b;
}

/**
 * At once, and not by way of the thread pool: no disk is behind `/proc`, so it takes 20 µs, and on a busy machine each of
 * the five turns of the pool that a file takes waits for a processor.
 */
function linuxStartTime(pid: number): string | null | undefined {
  try {
    return startTimeInStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch (fault) {
    // ESRCH: it ended between opening and reading.
    if (systemCodeOf(fault) === 'ESRCH') return undefined;
    // ENOENT may also mean that /proc is not mounted; anything else (EMFILE) says nothing about the process.
    return systemCodeOf(fault) === 'ENOENT' && !takesSignals(pid) ? undefined : null;
  }
}

function takesSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (fault) {
    return systemCodeOf(fault) !== 'ESRCH';
  }
}

function linuxBootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    // Unknown is a value of its own: it matches any boot, and the start time still decides.
    return null;
  }
}

async function psStartTime(pid: number): Promise<string | null | undefined> {
  if (!takesSignals(pid)) return undefined;
  const answer = await outputOf('/bin/ps', ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)]);
  if (answer === undefined) return takesSignals(pid) ? null : undefined;
  return startTimeInPs(answer);
}

async function darwinBootId(): Promise<string | null> {
  return (await outputOf('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid']))?.trim() ?? null;
}

/** Undefined when the program fails. In C and UTC, so that the same start is always the same text. */
function outputOf(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(
      program,
      [...args],
      { env: { LC_ALL: 'C', TZ: 'UTC' }, timeout: COMMAND_LIMIT_MS },
      (fault, stdout) => resolve(fault === null ? stdout : undefined),
    );
  });
}
