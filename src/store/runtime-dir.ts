import { lstat, mkdtemp, readdir } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { BridgeError, messageOf, systemCodeOf } from '../base/errors.js';
import { PROCESS_ID_PATTERN, TASK_ID_PATTERN } from '../base/ids.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import { networkFileSystem } from './network-file-system.js';
import { ensurePrivateFolder } from './private-folder.js';

export const SOCKET_SUFFIX = '.sock';
/** A socket's address holds 108 bytes on Linux and 104 on macOS, the end mark among them. */
const MAX_SOCKET_PATH_BYTES = 100;
const TASK_PREFIX = 'task_';
/** In the state directory. */
const NOTE_NAME = 'socket-folder.json';
const noteSchema = z.object({ path: z.string() });
const WAY_OUT =
  'Remove it, or set XDG_RUNTIME_DIR or TMPDIR to a short path of a folder of your own, and start again.';

export interface RuntimePlaces {
  readonly xdgRuntimeDir?: string | undefined;
  readonly tmpDir: string;
  readonly uid: number;
  /** The state directory: it remembers a folder with a name that cannot be guessed. */
  readonly statePath: string;
  /** The type of the network file system on which a folder lies. */
  readonly sharedBy?: (folder: string) => Promise<string | undefined>;
}

/**
 * Opens the folder for sockets, for us alone: `$XDG_RUNTIME_DIR/ccb` where that exists and is ours, else `<tmpDir>/ccb-<uid>`.
 * Every user can write to a temp folder and take that name first: then it is `<tmpDir>/ccb-<uid>-<random>`. Throws BridgeError
 * STATE_UNUSABLE when no folder can be made there, or it lies on a network file system.
 */
export async function openRuntimeDir(places: RuntimePlaces): Promise<RuntimeDir> {
  const { xdgRuntimeDir, tmpDir, uid, sharedBy = networkFileSystem } = places;
  const isXdg = xdgRuntimeDir !== undefined && (await isOurFolder(xdgRuntimeDir, uid));
  const path = isXdg ? join(xdgRuntimeDir, 'ccb') : join(tmpDir, `ccb-${uid}`);
  if (!isXdg && (await isTaken(path, uid))) return new RuntimeDir(await secretFolder(places));
  await ensurePrivateFolder(path, uid, WAY_OUT);
  const shared = await sharedBy(path);
  if (shared !== undefined) {
    throw new BridgeError(
      'STATE_UNUSABLE',
      `The folder for sockets ${path} lies on a network file system (${shared}), and a socket is found on one machine only.`,
      'Set XDG_RUNTIME_DIR or TMPDIR to a folder on a disk of this machine, and start again.',
    );
  }
  return new RuntimeDir(path);
}

/** The folder that all servers of this state directory use while another user has the usual name; made when it is gone. */
async function secretFolder({ tmpDir, uid, statePath }: RuntimePlaces): Promise<string> {
  const note = join(statePath, NOTE_NAME);
  const noted = await readJsonFile(note, noteSchema);
  if (
    noted.state === 'ok' &&
    dirname(noted.value.path) === tmpDir &&
    (await isOurFolder(noted.value.path, uid))
  )
    return noted.value.path;
  try {
    const path = await mkdtemp(join(tmpDir, `ccb-${uid}-`));
    await writeJsonFileAtomically(note, { path });
    return path;
  } catch (error) {
    throw new BridgeError(
      'STATE_UNUSABLE',
      `No folder for sockets can be made in ${tmpDir}: ${messageOf(error)}.`,
      'Set XDG_RUNTIME_DIR or TMPDIR to a short path of a folder of your own, and start again.',
      { cause: error },
    );
  }
}

/** The folder of the sockets, by which servers reach keepers. */
export class RuntimeDir {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Throws BridgeError STATE_UNUSABLE when the path would not fit into a socket's address. */
  socketPath(taskId: string): string {
    if (!TASK_ID_PATTERN.test(taskId)) {
      throw new BridgeError(
        'TASK_NOT_FOUND',
        `No task has the id ${JSON.stringify(taskId.slice(0, 100))}.`,
        'Call list_tasks.',
      );
    }
    return this.#socket(taskId.slice(TASK_PREFIX.length));
  }

  /** Of the keeper of a process. Throws as `socketPath`. */
  processSocketPath(processId: string): string {
    if (!PROCESS_ID_PATTERN.test(processId))
      throw new Error(`${JSON.stringify(processId)} is no id of a process.`);
    return this.#socket(processId);
  }

  /** The tasks whose keepers have a socket here; one that was killed may have left its own. Throws as `readdir`. */
  async tasks(): Promise<readonly { readonly task_id: string; readonly socket_path: string }[]> {
    const names = await readdir(this.path);
    return names
      .filter((name) => name.endsWith(SOCKET_SUFFIX))
      .map((name) => ({
        task_id: TASK_PREFIX + name.slice(0, -SOCKET_SUFFIX.length),
        socket_path: join(this.path, name),
      }))
      .filter(({ task_id }) => TASK_ID_PATTERN.test(task_id));
  }

  #socket(name: string): string {
    const path = join(this.path, `${name}${SOCKET_SUFFIX}`);
    const length = Buffer.byteLength(path);
    if (length <= MAX_SOCKET_PATH_BYTES) return path;
    throw new BridgeError(
      'STATE_UNUSABLE',
      `The socket path ${path} is ${length} bytes long, and a socket's address holds ${MAX_SOCKET_PATH_BYTES}.`,
      'Set XDG_RUNTIME_DIR (or TMPDIR) to a folder of your own with a shorter path, /tmp for instance.',
    );
  }
}

/** What another user, or a link, has made of a name in a folder for everybody. */
async function isTaken(path: string, uid: number): Promise<boolean> {
  try {
    const facts = await lstat(path);
    return !facts.isDirectory() || facts.uid !== uid;
  } catch (error) {
    // Not there: it can be made, or the making says why not.
    if (systemCodeOf(error) === undefined) throw error;
    return false;
  }
}

/** XDG_RUNTIME_DIR may be left over from another user or another login; then it is as if it were not set. */
async function isOurFolder(path: string, uid: number): Promise<boolean> {
  if (!isAbsolute(path)) return false;
  try {
    const facts = await lstat(path);
    return facts.isDirectory() && facts.uid === uid;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return false;
  }
}
