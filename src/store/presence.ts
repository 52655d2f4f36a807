import { createHash } from 'node:crypto';
import { chmodSync, closeSync, constants, mkdirSync, openSync, unlinkSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { BridgeError, messageOf, systemCodeOf } from '../base/errors.js';
import { isOwnProc } from '../os/own-proc.js';
import { isHeldOpen, makeLife } from './life.js';
import { ownIdentity, processState, type ProcessState } from './process-identity.js';
import type { ProcessIdentity } from './process-place.js';

const OWNER_ONLY = 0o700;
const OWNER_ONLY_FILE = 0o600;
const SUFFIX = '.sock';
/** A listening process accepts within milliseconds. */
const CONNECT_LIMIT_MS = 1_000;

/** What this process has announced, by state directory: it lasts as long as the process. */
const announced = new Map<string, Promise<void>>();
/** The sockets of this process. */
const made: string[] = [];

/** The name of a process in the state directory: 16 hexadecimal digits, different for each process of each boot and namespace. */
export function signOf({ pid, start_time, boot_id, machine_id, namespace }: ProcessIdentity): string {
  const text = JSON.stringify([pid, start_time, boot_id, machine_id ?? null, namespace ?? null]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** This process as the text of a link, `<pid> <start time> <sign>`: so short that it lies in the inode and needs no block of a full disk. */
export async function ownText(): Promise<string> {
  const own = await ownIdentity();
  return `${own.pid} ${own.start_time ?? ''} ${signOf(own)}`;
}

/** Whether the process that such a text names still runs; `unknown` for one of another pid namespace that lives. */
export async function stateOfText(text: string, statePath: string): Promise<ProcessState> {
  const [pid = '', start = '', sign = ''] = text.split(' ');
  const there = { ...(await ownIdentity()), pid: Number(pid), start_time: start === '' ? null : start };
  if (signOf(there) === sign) return processState(there);
  const presence = await presenceOf(sign, statePath);
  return presence === 'gone' ? 'gone' : 'unknown';
}

/**
 * Makes this process visible to those of other pid namespaces: it listens on `presence/<sign>.sock` in the state directory until it ends.
 * The kernel refuses connections from then on, also when the process was killed. A process calls this before it takes anything as its own.
 * Does nothing without `/proc`: a process does not know its pid namespace there (Linux), or there are none (macOS). Throws STATE_UNUSABLE when the disk does not take the socket.
 */
export function announce(statePath: string): Promise<void> {
  let known = announced.get(statePath);
  if (known === undefined) {
    known = listen(statePath);
    announced.set(statePath, known);
    // Tried again by the next one.
    known.catch(() => announced.delete(statePath));
  }
  return known;
}

/**
 * The pipe that the first process of a task holds open, for LIFE_VARIABLE; undefined where there are no pid namespaces, or no pipes. Only for
 * a process that has announced itself.
 */
export async function lifeFile(statePath: string): Promise<string | undefined> {
  if (!isOwnProc()) return undefined;
  const path = lifeOf(signOf(await ownIdentity()), statePath);
  if (!(await makeLife(path))) return undefined;
  made.push(path);
  return path;
}

/** `accepts`: it lives, or a process that it started. `gone`: none does. `unknown`: this system does not say. */
export async function presenceOf(sign: string, statePath: string): Promise<'accepts' | 'gone' | 'unknown'> {
  if (!isOwnProc()) return 'unknown';
  let folder: number;
  try {
    folder = openFolder(statePath);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return 'gone';
    return 'unknown';
  }
  try {
    const presence = await connectTo(shortPath(folder, sign));
    // A keeper that is gone may have left an agent, which no mark shows in another pid namespace.
    return presence === 'gone' && isHeldOpen(lifeOf(sign, statePath)) ? 'accepts' : presence;
  } finally {
    closeSync(folder);
  }
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
    await rm(join(folderOf(statePath), `${sign}${SUFFIX}`), { force: true });
    await rm(lifeOf(sign, statePath), { force: true });
  }
}

async function signsIn(statePath: string): Promise<string[]> {
  try {
    const names = await readdir(folderOf(statePath));
    return names.filter((name) => name.endsWith(SUFFIX)).map((name) => name.slice(0, -SUFFIX.length));
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

async function listen(statePath: string): Promise<void> {
  if (!isOwnProc()) return;
  const sign = signOf(await ownIdentity());
  const path = join(folderOf(statePath), `${sign}${SUFFIX}`);
  let folder: number | undefined;
  try {
    mkdirSync(folderOf(statePath), { recursive: true, mode: OWNER_ONLY });
    folder = openFolder(statePath);
    const server = createServer((socket) => socket.destroy()).unref();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(shortPath(folder ?? -1, sign), resolve);
    });
    chmodSync(path, OWNER_ONLY_FILE);
  } catch (error) {
    throw new BridgeError(
      'STATE_UNUSABLE',
      `The socket ${path}, by which other processes see this one, cannot be made: ${messageOf(error)}.`,
      'Make room on the disk of the state directory, and check that it is yours and writable.',
      { cause: error },
    );
  } finally {
    if (folder !== undefined) closeSync(folder);
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

function connectTo(path: string): Promise<'accepts' | 'gone' | 'unknown'> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    const done = (presence: 'accepts' | 'gone' | 'unknown'): void => {
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

function lifeOf(sign: string, statePath: string): string {
  return join(folderOf(statePath), `${sign}.life`);
}

function folderOf(statePath: string): string {
  return join(statePath, 'presence');
}

function openFolder(statePath: string): number {
  return openSync(folderOf(statePath), constants.O_RDONLY | constants.O_DIRECTORY);
}

/** A socket's address holds 108 bytes (unix(7)), a state directory may have a longer path. */
function shortPath(folder: number, sign: string): string {
  return `/proc/self/fd/${folder}/${sign}${SUFFIX}`;
}
