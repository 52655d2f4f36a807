import { execFile } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { z } from 'zod';
import { systemCodeOf } from '../base/errors.js';

/** A process by more than its number: a pid alone may be reused, and is one process only in its pid namespace. */
export const processIdentitySchema = z.object({
  pid: z.int().positive(),
  /** Kernel start time in clock ticks since boot (Linux) or `ps -o lstart` in UTC (macOS); null where unknown. */
  start_time: z.string().nullable(),
  boot_id: z.string().nullable(),
  /** The id of the machine's installation; null for a system without one, left out by older bridges. */
  machine_id: z.string().nullable().optional(),
  /** The namespaces in which pid and start time hold (Linux); null where unknown, left out by older bridges. */
  namespace: z.string().nullable().optional(),
});

export type ProcessIdentity = Readonly<z.infer<typeof processIdentitySchema>>;

/**
 * Where a process runs, seen from this one. `here`: pids mean the same. `restarted`: on this machine, before its last start.
 * `elsewhere`: in another pid namespace or on another machine, so its pid says nothing.
 */
export type ProcessPlace = 'here' | 'restarted' | 'elsewhere';

/** `unknown`: the system did not say, so it may be neither signalled nor taken for dead. */
export type ProcessState = 'alive' | 'gone' | 'unknown';

/** Positions in `/proc/<pid>/stat` counted behind the name: field 3 (state) and field 22 (start time) of proc(5). */
const STATE_FIELD = 0;
const START_TIME_FIELD = 19;
/** ps and sysctl answer within milliseconds. */
const COMMAND_LIMIT_MS = 5_000;

/**
 * Who runs under this pid now; undefined when nobody does (a zombie has ended). `start_time` is null when the system does
 * not say. Holds within the pid namespace of this process.
 */
export async function identityOf(
  pid: number,
  platform: NodeJS.Platform = process.platform,
): Promise<ProcessIdentity | undefined> {
  const startTime = platform === 'linux' ? linuxStartTime(pid) : await psStartTime(pid);
  if (startTime === undefined) return undefined;
  const place = platform === 'linux' ? linuxPlace() : await (darwinPlace ??= askDarwinPlace());
  return { pid, start_time: startTime, ...place };
}

/** The identity of this process; it never changes. */
export function ownIdentity(): Promise<ProcessIdentity> {
  return (own ??= identityOf(process.pid).then(
    (identity) => identity ?? { pid: process.pid, start_time: null, boot_id: null },
  ));
}

let own: Promise<ProcessIdentity> | undefined;

/** Where the process runs, seen from `own`. */
export function placeOf(identity: ProcessIdentity, own: ProcessIdentity): ProcessPlace {
  // An older bridge knew nothing of namespaces and machines: as it judged.
  if (identity.namespace === undefined || own.namespace === undefined) return 'here';
  const isSameMachine = identity.machine_id === own.machine_id;
  if (identity.boot_id !== own.boot_id) {
    const areKnown = identity.boot_id !== null && own.boot_id !== null && own.machine_id !== null;
    return areKnown && isSameMachine ? 'restarted' : 'elsewhere';
  }
  const isSameKernel = own.boot_id !== null || isSameMachine;
  return isSameKernel && identity.namespace === own.namespace ? 'here' : 'elsewhere';
}

/** The same process, as far as both say. */
export function isSameIdentity(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return (
    a.pid === b.pid &&
    a.start_time === b.start_time &&
    a.boot_id === b.boot_id &&
    (a.machine_id ?? null) === (b.machine_id ?? null) &&
    (a.namespace ?? null) === (b.namespace ?? null)
  );
}

/**
 * Whether that very process still runs: same pid, same start time, same boot. `unknown` for one that runs elsewhere: nothing
 * here says whether it does.
 */
export async function processState(identity: ProcessIdentity): Promise<ProcessState> {
  const place = placeOf(identity, await ownIdentity());
  if (place !== 'here') return place === 'restarted' ? 'gone' : 'unknown';
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
  // The /proc of another pid namespace tells of other processes (`unshare --pid` without `--mount-proc`).
  if (!isOwnProc()) return takesSignals(pid) ? null : undefined;
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

/** False as well where /proc is not mounted. */
function isOwnProc(): boolean {
  return linkIn('/proc/self') === String(process.pid);
}

type Place = Pick<ProcessIdentity, 'boot_id' | 'machine_id' | 'namespace'>;

/** What identifies the machine and its namespaces; asked once, since it does not change while this process runs. */
function linuxPlace(): Place {
  return (linuxPlaceNow ??= {
    boot_id: textIn('/proc/sys/kernel/random/boot_id'),
    machine_id: MACHINE_ID_FILES.map(textIn).find((id) => id !== null && MACHINE_ID.test(id)) ?? null,
    // Start times are those of the time namespace (time_namespaces(7)); kernels before 5.6 have none.
    namespace: isOwnProc()
      ? [linkIn('/proc/self/ns/pid'), linkIn('/proc/self/ns/time')].filter((ns) => ns !== null).join(' ')
      : null,
  });
}

let linuxPlaceNow: Place | undefined;
let darwinPlace: Promise<Place> | undefined;

/** See machine-id(5); the second is where D-Bus keeps it on systems without systemd. */
const MACHINE_ID_FILES = ['/etc/machine-id', '/var/lib/dbus/machine-id'];
const MACHINE_ID = /^[0-9a-f]{32}$/;

function textIn(path: string): string | null {
  try {
    return readFileSync(path, 'latin1').trim();
  } catch {
    // Unknown is a value of its own.
    return null;
  }
}

function linkIn(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    // Not mounted, or an older kernel.
    return null;
  }
}

async function psStartTime(pid: number): Promise<string | null | undefined> {
  if (!takesSignals(pid)) return undefined;
  const answer = await outputOf('/bin/ps', ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)]);
  if (answer === undefined) return takesSignals(pid) ? null : undefined;
  return startTimeInPs(answer);
}

async function askDarwinPlace(): Promise<Place> {
  const [boot, hardware] = await Promise.all([
    outputOf('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid']),
    outputOf('/usr/sbin/ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice']),
  ]);
  return { boot_id: boot?.trim() ?? null, machine_id: machineIdInIoreg(hardware ?? ''), namespace: null };
}

/** The machine's id in the answer of `ioreg -rd1 -c IOPlatformExpertDevice`. */
export function machineIdInIoreg(answer: string): string | null {
  return /"IOPlatformUUID" = "([0-9A-F-]{36})"/.exec(answer)?.[1] ?? null;
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
