import { lstat, readdir } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { PROCESS_ID_PATTERN, TASK_ID_PATTERN } from '../base/ids.js';
import { ensurePrivateFolder } from './private-folder.js';

export const SOCKET_SUFFIX = '.sock';
/** A socket's address holds 108 bytes on Linux and 104 on macOS, the end mark among them. */
const MAX_SOCKET_PATH_BYTES = 100;
const TASK_PREFIX = 'task_';
const WAY_OUT =
  'Remove it, or set XDG_RUNTIME_DIR or TMPDIR to a short path of a folder of your own, and start again.';

export interface RuntimePlaces {
  readonly xdgRuntimeDir?: string | undefined;
  readonly tmpDir: string;
  readonly uid: number;
}

/**
 * Opens the folder for sockets: `$XDG_RUNTIME_DIR/ccb` where that exists and is ours, else `<tmpDir>/ccb-<uid>`; for us
 * alone. Throws BridgeError STATE_UNUSABLE when somebody else owns the place or put a link there.
 */
export async function openRuntimeDir(places: RuntimePlaces): Promise<RuntimeDir> {
  const { xdgRuntimeDir, tmpDir, uid } = places;
  const path =
    xdgRuntimeDir !== undefined && (await isOurFolder(xdgRuntimeDir, uid))
      ? join(xdgRuntimeDir, 'ccb')
      : join(tmpDir, `ccb-${uid}`);
  await ensurePrivateFolder(path, uid, WAY_OUT);
  return new RuntimeDir(path);
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

/** XDG_RUNTIME_DIR may be left over from another user or another login; then it is as if it were not set. */
async function isOurFolder(path: string, uid: number): Promise<boolean> {
  if (!isAbsolute(path)) return false;
  try {
    const facts = await lstat(path);
    return facts.isDirectory() && facts.uid === uid;
  } catch (fault) {
    if (systemCodeOf(fault) === undefined) throw fault;
    return false;
  }
}
