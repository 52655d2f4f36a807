import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { readdir, readlink, rm } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { BridgeError, ignoreMissing, messageOf, systemCodeOf } from '../base/errors.js';
import { lazily } from '../base/lifecycle.js';
import { makeFifos } from '../os/make-fifo.js';
import { isOwnProc } from '../os/own-proc.js';
import { machineOf } from './machine.js';
import { ownIdentity, processState, type ProcessState } from './process-identity.js';
import { placeOf, type ProcessIdentity } from './process-place.js';

const OWNER_ONLY = 0o700;
const OWNER_ONLY_FILE = 0o600;
const SUFFIX = '.sock';
/** A listening process accepts within milliseconds. */
const CONNECT_LIMIT_MS = 1_000;

/** `accepts`: the process lives, or one that it started. `gone`: none does. `unknown`: this system does not say. */
type Presence = 'accepts' | 'gone' | 'unknown';

/** What this process has announced, by state directory: it lasts as long as the process. */
const announced = new Map<string, () => Promise<void>>();
/** The sockets and pipes of this process. */
const made: string[] = [];

/**
 * Whether the owner of something in the state directory still runs. One that runs here is checked by its pid. One in another pid
 * namespace of this machine is checked by its socket (`announce`). One on another machine is `unknown`, unless the state directory
 * was that machine's before and is this one's now.
 */
export async function ownerState(owner: ProcessIdentity, statePath: string): Promise<ProcessState> {
  const own = await ownIdentity();
  const place = placeOf(owner, own);
  if (place === 'here') return processState(owner);
  const presence = await presenceOf(signOf(owner), statePath);
  // A copy of a machine has the same id, so what ran before a restart of this one may run on that one.
  if (presence === 'accepts') return 'unknown';
  if (place === 'restarted') return 'gone';
  const onMac = await stateOnMac(owner, statePath);
  if (onMac !== undefined) return onMac;
  // Without a known namespace it could not announce itself.
  if (presence !== 'gone' || owner.namespace == null) return 'unknown';
  const machine = await machineOf(statePath);
  const isSameKernel = owner.boot_id !== null && owner.boot_id === own.boot_id;
  return machine === 'own' || (machine === 'unclaimed' && isSameKernel) ? 'gone' : 'unknown';
}

/**
 * Makes a link that points nowhere and whose text names this process: link and text come into being in one step, and lie in the inode,
 * so a full disk has room for them. False when the name is taken. Throws STATE_UNUSABLE, and the system's error.
 */
export async function linkToSelf(path: string, statePath: string): Promise<boolean> {
  await announce(statePath);
  const own = await ownIdentity();
  try {
    symlinkSync(`${own.pid} ${own.start_time ?? ''} ${signOf(own)}`, path);
    return true;
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Whether the process that such a link names still runs; `gone` without a link, `unknown` for one of another pid namespace that lives. */
export async function linkedProcess(
  path: string,
  statePath: string,
): Promise<{ readonly pid: number; readonly state: ProcessState }> {
  const text = await readlink(path).catch(ignoreMissing);
  if (text === undefined) return { pid: 0, state: 'gone' };
  // The start may hold spaces: `ps` gives a date.
  const [, pid = '', start = '', sign = ''] = /^(\d+) (.*) (\w+)$/.exec(text) ?? [];
  const there = { ...(await ownIdentity()), pid: Number(pid), start_time: start === '' ? null : start };
  if (signOf(there) === sign) return { pid: there.pid, state: await processState(there) };
  const elsewhere = (await presenceOf(sign, statePath)) === 'gone' ? 'gone' : 'unknown';
  return { pid: there.pid, state: (await stateOnMac(there, statePath)) ?? elsewhere };
}

/**
 * On a Mac, in a state directory of this machine. It has no pid namespaces, and a start is a date there: so pid and start mean one
 * process, of whichever boot, and none where the directory was adopted from another Mac.
 */
async function stateOnMac(
  { pid, start_time }: ProcessIdentity,
  statePath: string,
): Promise<ProcessState | undefined> {
  if (process.platform !== 'darwin' || (await machineOf(statePath)) !== 'own') return undefined;
  return processState({ ...(await ownIdentity()), pid, start_time });
}

/**
 * Makes this process visible to those of other pid namespaces: it listens on `presence/<sign>.sock` in the state directory until it ends.
 * The kernel refuses connections from then on, also when the process was killed. A process calls this before it takes anything as its own.
 * Does nothing without `/proc`: a process does not know its pid namespace there (Linux), or there are none (macOS). Throws STATE_UNUSABLE when the disk does not take the socket.
 */
export function announce(statePath: string): Promise<void> {
  const once = announced.get(statePath) ?? lazily(() => listen(statePath));
  announced.set(statePath, once);
  return once();
}

/**
 * The pipe that the first process of a task holds open, for LIFE_VARIABLE; undefined where there are no pid namespaces, no `mkfifo`, or no
 * pipes on the disk. Only for a process that has announced itself.
 */
export async function lifeFile(statePath: string): Promise<string | undefined> {
  if (!isOwnProc()) return undefined;
  const path = fileOf(signOf(await ownIdentity()), '.life', statePath);
  await makeFifos(path).catch(() => undefined);
  if (!existsSync(path)) return undefined;
  made.push(path);
  return path;
}

/** Whether any process that has announced itself in the state directory lives. Throws the system's error. */
export async function somePresence(statePath: string): Promise<boolean> {
  for (const sign of await signsIn(statePath))
    if ((await presenceOf(sign, statePath)) === 'accepts') return true;
  return false;
}

/** Removes the sockets of processes that are gone. Throws the system's error. */
export async function sweepPresence(statePath: string): Promise<void> {
  for (const sign of await signsIn(statePath)) {
    if ((await presenceOf(sign, statePath)) !== 'gone') continue;
    for (const suffix of [SUFFIX, '.life']) await rm(fileOf(sign, suffix, statePath), { force: true });
  }
}

/** The name of a process in the state directory: 16 hexadecimal digits, different for each process of each boot and namespace. */
function signOf({ pid, start_time, boot_id, machine_id, namespace }: ProcessIdentity): string {
  const text = JSON.stringify([pid, start_time, boot_id, machine_id ?? null, namespace ?? null]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

async function presenceOf(sign: string, statePath: string): Promise<Presence> {
  if (!isOwnProc()) return 'unknown';
  try {
    const presence = await inFolder(statePath, (folder) => connectTo(`${folder}/${sign}${SUFFIX}`));
    // A keeper that is gone may have left an agent, which no mark shows in another pid namespace.
    return presence === 'gone' && isHeldOpen(fileOf(sign, '.life', statePath)) ? 'accepts' : presence;
  } catch (error) {
    return systemCodeOf(error) === 'ENOENT' ? 'gone' : 'unknown';
  }
}

/** Whether any process of this kernel holds the pipe open, in whichever pid namespace. Throws the system's error. */
function isHeldOpen(path: string): boolean {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch (error) {
    const code = systemCodeOf(error);
    // ENXIO: there is no reader (fifo(7)), and each holder is one.
    if (code === 'ENXIO' || code === 'ENOENT') return false;
    throw error;
  }
}

function connectTo(path: string): Promise<Presence> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    const done = (presence: Presence): void => {
      socket.destroy();
      resolve(presence);
    };
    socket.setTimeout(CONNECT_LIMIT_MS, () => done('accepts'));
    socket.once('connect', () => done('accepts'));
    socket.once('error', (error) => {
      const code = systemCodeOf(error) ?? '';
      // EAGAIN: the listener's backlog is full (connect(2)).
      if (code === 'EAGAIN') done('accepts');
      else done(code === 'ECONNREFUSED' || code === 'ENOENT' ? 'gone' : 'unknown');
    });
  });
}

async function listen(statePath: string): Promise<void> {
  if (!isOwnProc()) return;
  const sign = signOf(await ownIdentity());
  const path = fileOf(sign, SUFFIX, statePath);
  try {
    mkdirSync(folderOf(statePath), { recursive: true, mode: OWNER_ONLY });
    await inFolder(statePath, async (folder) => {
      const server = createServer((socket) => socket.destroy()).unref();
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(`${folder}/${sign}${SUFFIX}`, resolve);
      });
    });
    chmodSync(path, OWNER_ONLY_FILE);
  } catch (error) {
    throw new BridgeError(
      'STATE_UNUSABLE',
      `The socket ${path}, by which other processes see this one, cannot be made: ${messageOf(error)}.`,
      'Make room on the disk of the state directory, and check that it is yours and writable.',
      { cause: error },
    );
  }
  if (made.length === 0) process.once('exit', removeMade);
  made.push(path);
}

function removeMade(): void {
  for (const path of made) {
    try {
      unlinkSync(path);
    } catch (error) {
      // Its folder is gone, or the disk takes nothing: the next server removes it.
      if (systemCodeOf(error) === undefined) throw error;
    }
  }
}

/** Gives `act` a short path of the folder: a socket's address holds 108 bytes (unix(7)), a state directory may have a longer path. */
async function inFolder<T>(statePath: string, act: (folder: string) => Promise<T>): Promise<T> {
  const folder = openSync(folderOf(statePath), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return await act(`/proc/self/fd/${folder}`);
  } finally {
    closeSync(folder);
  }
}

async function signsIn(statePath: string): Promise<string[]> {
  const names = (await readdir(folderOf(statePath)).catch(ignoreMissing)) ?? [];
  return names.filter((name) => name.endsWith(SUFFIX)).map((name) => name.slice(0, -SUFFIX.length));
}

function fileOf(sign: string, suffix: string, statePath: string): string {
  return join(folderOf(statePath), `${sign}${suffix}`);
}

function folderOf(statePath: string): string {
  return join(statePath, 'presence');
}
