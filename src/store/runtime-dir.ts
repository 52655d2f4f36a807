import { lstat, mkdtemp } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { BridgeError, messageOf, systemCodeOf } from '../base/errors.js';
import { PROCESS_ID_PATTERN, TASK_ID_PATTERN } from '../base/ids.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import { ensurePrivateFolder } from './private-folder.js';

export const SOCKET_SUFFIX = '.sock';
/** A socket's address holds 108 bytes on Linux and 104 on macOS, including the terminating NUL. */
const MAX_SOCKET_PATH_BYTES = 100;
const TASK_PREFIX = 'task_';
/** In the state directory: stores the path of a folder with a random name. */
const NOTE_NAME = 'socket-folder.json';
const noteSchema = z.object({ path: z.string() });
const HINT =
  'Remove it, or set XDG_RUNTIME_DIR or TMPDIR to a folder of your own with a short path, and restart the bridge.';

export interface RuntimePlaces {
  readonly xdgRuntimeDir?: string | undefined;
  readonly tmpDir: string;
  readonly uid: number;
  /** The state directory, which stores the path of a folder with a random name. */
  readonly statePath: string;
}

/**
 * Opens the private folder for sockets: `$XDG_RUNTIME_DIR/ccb` if that variable names a folder of this user, else
 * `<tmpDir>/ccb-<uid>`. Another user can take that name first in a shared temp folder: then it is `<tmpDir>/ccb-<uid>-<random>`.
 * Throws BridgeError STATE_UNUSABLE when no folder can be created there.
 */
export async function openRuntimeDir(places: RuntimePlaces): Promise<RuntimeDir> {
  const { xdgRuntimeDir, tmpDir, uid } = places;
  const isXdg = xdgRuntimeDir !== undefined && (await isOurFolder(xdgRuntimeDir, uid));
  const path = isXdg ? join(xdgRuntimeDir, 'ccb') : join(tmpDir, `ccb-${uid}`);
  if (!isXdg && (await isTaken(path, uid))) return new RuntimeDir(await secretFolder(places));
  await ensurePrivateFolder(path, uid, HINT);
  return new RuntimeDir(path);
}

/** Where that folder is unless another user has its name; the first place counts. */
export function usualRuntimeDirs({
  xdgRuntimeDir,
  tmpDir,
  uid,
}: Pick<RuntimePlaces, 'xdgRuntimeDir' | 'tmpDir' | 'uid'>): readonly string[] {
  const inTemp = join(tmpDir, `ccb-${uid}`);
  return xdgRuntimeDir === undefined ? [inTemp] : [join(xdgRuntimeDir, 'ccb'), inTemp];
}

/** The folder that all servers of this state directory use while another user has the usual name; created if missing. */
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
      `A folder for sockets cannot be created in ${tmpDir}: ${messageOf(error)}.`,
      'Set XDG_RUNTIME_DIR or TMPDIR to a folder of your own with a short path, and restart the bridge.',
      { cause: error },
    );
  }
}

/** The folder of the sockets through which servers reach keepers. */
export class RuntimeDir {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Throws BridgeError STATE_UNUSABLE when the path does not fit into a socket's address. */
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

  /** The socket of a process's keeper. Throws like `socketPath`. */
  processSocketPath(processId: string): string {
    if (!PROCESS_ID_PATTERN.test(processId))
      throw new Error(`${JSON.stringify(processId)} is not a process id.`);
    return this.#socket(processId);
  }

  #socket(name: string): string {
    const path = join(this.path, `${name}${SOCKET_SUFFIX}`);
    const length = Buffer.byteLength(path);
    if (length <= MAX_SOCKET_PATH_BYTES) return path;
    throw new BridgeError(
      'STATE_UNUSABLE',
      `The socket path ${path} is ${length} bytes long, but a socket's address holds only ${MAX_SOCKET_PATH_BYTES}.`,
      'Set XDG_RUNTIME_DIR (or TMPDIR) to a folder of your own with a shorter path, for example below /tmp.',
    );
  }
}

/** Whether a name in a shared folder is a link, a file, or another user's folder. */
async function isTaken(path: string, uid: number): Promise<boolean> {
  try {
    const facts = await lstat(path);
    return !facts.isDirectory() || facts.uid !== uid;
  } catch (error) {
    // It does not exist, or creating it will report why not.
    if (systemCodeOf(error) === undefined) throw error;
    return false;
  }
}

/** XDG_RUNTIME_DIR may come from another user or an earlier login; then it is ignored. */
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
