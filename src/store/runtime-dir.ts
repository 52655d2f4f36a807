import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BridgeError } from '../base/errors.js';
import { PROCESS_ID_PATTERN, TASK_ID_PATTERN } from '../base/ids.js';
import { ensurePrivateFolder } from './private-folder.js';

const SOCKETS = 'sockets';
export const SOCKET_SUFFIX = '.sock';
/** A socket's address holds 108 bytes on Linux and 104 on macOS, including the terminating NUL. */
const MAX_SOCKET_PATH_BYTES = 100;
const TASK_PREFIX = 'task_';
/** As long as any name of a socket. */
const LONGEST_NAME = `${'0'.repeat(20)}${SOCKET_SUFFIX}`;
const HINT = 'Set MCP_STATE_DIR to a folder of your own with a shorter path, and restart the bridge.';

/**
 * Opens the private folder of the sockets through which servers reach keepers: `sockets` in the state directory, or, where its path is
 * too long for a socket's address, one in the folder for temporary files. Throws BridgeError STATE_UNUSABLE when it cannot be created,
 * or is another user's.
 */
export async function openRuntimeDir(
  statePath: string,
  { tmpDir = tmpdir(), uid = process.getuid?.() ?? 0 } = {},
): Promise<RuntimeDir> {
  const inState = join(statePath, SOCKETS);
  const path = fits(join(inState, LONGEST_NAME)) ? inState : join(tmpDir, `ccb-${uid}`);
  await ensurePrivateFolder(path, uid, HINT);
  return new RuntimeDir(path);
}

/** Where the keeper of a task listens, unless the path of the state directory is too long. */
export function usualSocket(statePath: string, taskId: string): string {
  return join(statePath, SOCKETS, `${taskId.slice(TASK_PREFIX.length)}${SOCKET_SUFFIX}`);
}

/** The folder of the sockets through which servers reach keepers. */
export class RuntimeDir {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /**
   * The socket of the keeper of a task or process. Throws BridgeError STATE_UNUSABLE when its path does not fit into a socket's address,
   * TASK_NOT_FOUND for what is no id.
   */
  socketPath(id: string): string {
    const isTask = TASK_ID_PATTERN.test(id);
    if (!isTask && !PROCESS_ID_PATTERN.test(id)) {
      const shown = JSON.stringify(id.slice(0, 100));
      throw new BridgeError('TASK_NOT_FOUND', `No task has the id ${shown}.`, [{ do: 'list' }]);
    }
    const path = join(this.path, `${isTask ? id.slice(TASK_PREFIX.length) : id}${SOCKET_SUFFIX}`);
    if (fits(path)) return path;
    throw new BridgeError(
      'STATE_UNUSABLE',
      `The socket path ${path} is ${Buffer.byteLength(path)} bytes long, but a socket's address holds only ${MAX_SOCKET_PATH_BYTES}.`,
      HINT,
    );
  }
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES;
}
