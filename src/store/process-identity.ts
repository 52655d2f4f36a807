import { execFile } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { z } from 'zod';
import { isOwnProc } from '../os/own-proc.js';
import { pidOf, type Pid } from '../os/pid.js';
import { processSource } from '../os/process-source.js';
import type { ProcessTable } from '../os/process-table.js';
import { isPidInUse } from '../os/pid-in-use.js';

/** A process by more than its number: a pid alone may be reused, and is one process only in its pid namespace. */
export const processIdentitySchema = z.object({
  pid: z.int().positive(),
  /** The `startId` of the process table; null where unknown. */
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

/** sysctl and ioreg answer within milliseconds. */
const COMMAND_LIMIT_MS = 5_000;

/**
 * Who runs under this pid now; undefined when nobody does (a zombie has ended). `start_time` is null when the system does
 * not say. Holds within the pid namespace of this process.
 */
export async function identityOf(
  pid: number,
  source: ProcessTable = processSource,
): Promise<ProcessIdentity | undefined> {
  const real = pidOf(pid);
  if (real === undefined) return undefined;
  const startTime = await startTimeOf(real, source);
  if (startTime === undefined) return undefined;
  const place = process.platform === 'linux' ? linuxPlace() : await (darwinPlace ??= askDarwinPlace());
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

function differs(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && a !== b;
}

/** Undefined when nobody runs under this pid, null when the system does not say who, asked several times. */
async function startTimeOf(pid: Pid, source: ProcessTable): Promise<string | null | undefined> {
  for (let tries = ASK_TIMES; tries > 0; tries--) {
    try {
      return (await source.find([pid]))[0]?.startId;
    } catch {
      // `ps` may fail once, on a machine that is short of processes or memory for a moment.
      if (!isPidInUse(pid)) return undefined;
    }
  }
  return null;
}

const ASK_TIMES = 3;

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

/** Undefined when the program fails. */
function outputOf(program: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, [...args], { env: { LC_ALL: 'C' }, timeout: COMMAND_LIMIT_MS }, (error, stdout) =>
      resolve(error === null ? stdout : undefined),
    );
  });
}
