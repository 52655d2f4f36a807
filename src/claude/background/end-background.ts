import { sleep, type Clock } from '../../base/clock.js';
import { findDescendants } from '../../os/find-processes.js';
import { pidOf } from '../../os/pid.js';
import type { ProcessKey } from '../../os/process-info.js';
import { processSource } from '../../os/process-source.js';
import { killTree } from '../../pty/kill-ladder.js';
import type { BackgroundCli, BackgroundEntry } from './background-cli.js';

/** Time between SIGTERM and SIGKILL for what is left when Claude Code has stopped the session. */
const GRACE_MS = 1_000;
/** The background service refuses while it starts again. */
const REMOVE_ATTEMPTS = 6;
const REMOVE_INTERVAL_MS = 500;

/** By what its name begins with, and once it is known by its id: a person may give a session another name. */
export interface BackgroundName {
  /** The first word of its name; no other session has it. */
  readonly name: string;
  readonly id?: string | undefined;
}

/** Finds a session in the list. */
export function findBackground(
  entries: readonly BackgroundEntry[],
  { name, id }: BackgroundName,
): BackgroundEntry | undefined {
  return entries.find((entry) => (id === undefined ? entry.name?.split(' ')[0] === name : entry.id === id));
}

/** The process with that pid now; undefined when there is none. Rejects when the system does not report it. */
export async function keyOfPid(pid: number): Promise<ProcessKey | undefined> {
  const real = pidOf(pid);
  return real === undefined ? undefined : (await processSource.find([real]))[0];
}

/** What was done to end a session. */
export interface BackgroundEnd {
  /** How many processes of it ran, as far as they do not carry the task's mark. */
  readonly processes: number;
  /** True when the session is not in the list any more. */
  readonly isRemoved: boolean;
}

/**
 * Stops the session, so that the background service does not start it again, ends its process with all descendants, and removes it
 * from the list. Its conversation stays. Rejects when Claude Code does not list its sessions.
 */
export async function endBackground(
  cli: BackgroundCli,
  named: BackgroundName,
  clock: Clock,
): Promise<BackgroundEnd> {
  const entry = findBackground(await cli.list(), named);
  if (entry === undefined) return { processes: 0, isRemoved: true };
  const key = entry.pid === undefined ? undefined : await keyOfPid(entry.pid);
  const family = key === undefined ? [] : await findDescendants({ mark: '', known: [key] });
  await cli.stop(entry.id);
  if (family.length > 0) await killTree({ mark: '', also: family, clock, graceMs: GRACE_MS });
  for (let attempt = 1; ; attempt++) {
    if (await cli.remove(entry.id)) return { processes: family.length, isRemoved: true };
    if (attempt === REMOVE_ATTEMPTS) return { processes: family.length, isRemoved: false };
    await sleep(clock, REMOVE_INTERVAL_MS);
  }
}

/** Ends a process with all its descendants. Rejects when the system does not list its processes. */
export async function endProcess(key: ProcessKey, clock: Clock): Promise<void> {
  const family = await findDescendants({ mark: '', known: [key] });
  if (family.length > 0) await killTree({ mark: '', also: family, clock, graceMs: GRACE_MS });
}
