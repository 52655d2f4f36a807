import { execFile } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { isOwnProc } from '../os/own-proc.js';
import { pidOf, type Pid } from '../os/pid.js';
import { processSource } from '../os/process-source.js';
import type { ProcessTable } from '../os/process-table.js';
import { isPidInUse } from '../os/pid-in-use.js';
import { placeOf, type ProcessIdentity } from './process-place.js';

/** `unknown`: the system does not report it, so the process must be neither signalled nor taken for dead. */
export type ProcessState = 'alive' | 'gone' | 'unknown';

/** sysctl and ioreg answer within milliseconds. */
const COMMAND_LIMIT_MS = 5_000;

/**
 * The process that has this pid now in the pid namespace of this process; undefined when there is none (a zombie has ended).
 * `start_time` is null when the system does not report it.
 */
export async function identityOf(
  pid: number,
  source: ProcessTable = processSource,
): Promise<ProcessIdentity | undefined> {
  const real = pidOf(pid);
  if (real === undefined) return undefined;
  const startTime = await startTimeOf(real, source);
  if (startTime === undefined) return undefined;
  return { pid, start_time: startTime, ...(await (place ??= askPlace())) };
}

/** The identity of this process; it never changes. */
export function ownIdentity(): Promise<ProcessIdentity> {
  return (own ??= identityOf(process.pid).then(
    (identity) => identity ?? { pid: process.pid, start_time: null, boot_id: null },
  ));
}

let own: Promise<ProcessIdentity> | undefined;

/**
 * Whether that very process still runs: same pid, same start time, same boot. `unknown` for one that runs elsewhere, which cannot be
 * checked from here.
 */
export async function processState(identity: ProcessIdentity): Promise<ProcessState> {
  const place = placeOf(identity, await ownIdentity());
  if (place !== 'here') return place === 'restarted' ? 'gone' : 'unknown';
  const now = await identityOf(identity.pid);
  if (now === undefined) return 'gone';
  if (differs(now.boot_id, identity.boot_id) || differs(now.start_time, identity.start_time)) return 'gone';
  return now.start_time === null || identity.start_time === null ? 'unknown' : 'alive';
}

/** Whether no process has the pid of one that runs here: asked at no cost. Undefined for one that runs elsewhere. */
export async function isPidFree(identity: ProcessIdentity): Promise<boolean | undefined> {
  const pid = pidOf(identity.pid);
  if (pid === undefined || placeOf(identity, await ownIdentity()) !== 'here') return undefined;
  return !isPidInUse(pid);
}

function differs(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && a !== b;
}

/** Undefined when no process has this pid, null when the system does not report its start even after several tries. */
async function startTimeOf(pid: Pid, source: ProcessTable): Promise<string | null | undefined> {
  for (let tries = ASK_TIMES; tries > 0; tries--) {
    try {
      return (await source.find([pid]))[0]?.startId;
    } catch {
      // `ps` may fail once when the machine is briefly short of processes or memory.
      if (!isPidInUse(pid)) return undefined;
    }
  }
  return null;
}

const ASK_TIMES = 3;

type Place = Pick<ProcessIdentity, 'boot_id' | 'machine_id' | 'namespace'>;

/** See machine-id(5); the second is that of D-Bus, for systems without systemd. */
const MACHINE_ID_FILES = ['/etc/machine-id', '/var/lib/dbus/machine-id'];
const MACHINE_ID = /^[0-9a-f]{32}$/;
/** The machine and the namespaces; read once, since this does not change while this process runs. */
let place: Promise<Place> | undefined;

async function askPlace(): Promise<Place> {
  if (process.platform === 'linux') return linuxPlace();
  const [boot, hardware] = await Promise.all([
    outputOf('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid']),
    outputOf('/usr/sbin/ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice']),
  ]);
  return { boot_id: boot?.trim() ?? null, machine_id: machineIdInIoreg(hardware ?? ''), namespace: null };
}

function linuxPlace(): Place {
  const textIn = (path: string): string | null => orNull(() => readFileSync(path, 'latin1').trim());
  // Start times belong to a time namespace (time_namespaces(7)); kernels before 5.6 have none.
  const namespaces = ['/proc/self/ns/pid', '/proc/self/ns/time'].map((path) =>
    orNull(() => readlinkSync(path)),
  );
  return {
    boot_id: textIn('/proc/sys/kernel/random/boot_id'),
    machine_id: MACHINE_ID_FILES.map(textIn).find((id) => id !== null && MACHINE_ID.test(id)) ?? null,
    namespace: isOwnProc() ? namespaces.filter((one) => one !== null).join(' ') : null,
  };
}

/** Null, which means unknown, for what is not mounted or cannot be read. */
function orNull(read: () => string): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** The machine's id in the output of `ioreg -rd1 -c IOPlatformExpertDevice`. */
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
