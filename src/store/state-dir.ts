import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { syncFolder } from '../base/files/atomic-file.js';
import { BridgeError, messageOf, systemCodeOf } from '../base/errors.js';
import { TASK_ID_PATTERN } from '../base/ids.js';
import { networkFileSystem } from './network-file-system.js';
import { makeFolders } from '../base/files/make-folders.js';
import { FolderNames } from './folder-names.js';
import { ensurePrivateFolder } from './private-folder.js';

const OWNER_ONLY = 0o700;
/** In a task's folder: an empty file for each task that was started inside it. */
const CHILDREN = 'children';
/** A keeper that could not start its agent says so first, and writes its last lines then: each try waits so much longer. */
const LAST_LINES_TRIES = 6;
const LAST_LINES_MS = 20;
const WAY_OUT =
  'Repair it, or set MCP_STATE_DIR to a folder of your own that can be written, and start again.';

/**
 * Opens the state directory, making it when it is missing. Throws BridgeError STATE_UNUSABLE, naming the path and what is
 * wrong with it, unless it is a folder (no link) on a disk of this machine that belongs to us; others lose their access to it.
 */
export async function openStateDir({
  path,
  uid = process.getuid?.() ?? 0,
  sharedBy = networkFileSystem,
}: {
  readonly path: string;
  readonly uid?: number;
  /** The type of the network file system on which a folder lies. */
  readonly sharedBy?: (folder: string) => Promise<string | undefined>;
}): Promise<StateDir> {
  if (!isAbsolute(path)) throw unusable(path, 'is not an absolute path');
  await ensurePrivateFolder(path, uid, WAY_OUT);
  const shared = await sharedBy(path);
  if (shared !== undefined) {
    throw new BridgeError(
      'STATE_UNUSABLE',
      `The state directory ${path} lies on a network file system (${shared}), where other machines could write to the same tasks.`,
      'Set MCP_STATE_DIR to a folder on a disk of this machine, and start again.',
    );
  }
  const state = new StateDir(path);
  await ensurePrivateFolder(state.tasksDir, uid, WAY_OUT);
  await ensurePrivateFolder(state.lockDir, uid, WAY_OUT);
  return state;
}

/** What lies where in the state directory. Every maker of a path throws TASK_NOT_FOUND for what is no task id. */
export class StateDir {
  readonly path: string;
  readonly tasksDir: string;
  readonly lockDir: string;
  readonly queueDir: string;
  readonly #taskFolders: FolderNames;

  constructor(path: string) {
    this.path = path;
    this.tasksDir = join(path, 'tasks');
    this.lockDir = join(path, 'locks');
    this.queueDir = join(path, 'queue');
    this.#taskFolders = new FolderNames(this.tasksDir);
  }

  taskDir(taskId: string): string {
    // Ids come from callers: nothing else may become part of a path.
    if (TASK_ID_PATTERN.test(taskId)) return join(this.tasksDir, taskId);
    throw new BridgeError(
      'TASK_NOT_FOUND',
      `No task has the id ${JSON.stringify(taskId.slice(0, 100))}.`,
      'Call list_tasks to see the tasks and their ids.',
    );
  }

  recordFile(taskId: string): string {
    return join(this.taskDir(taskId), 'record.json');
  }

  journalFile(taskId: string): string {
    return join(this.taskDir(taskId), 'journal.ndjson');
  }

  recordingFile(taskId: string): string {
    return join(this.taskDir(taskId), 'terminal.cast');
  }

  specFile(taskId: string): string {
    return join(this.taskDir(taskId), 'spec.json');
  }

  promptFile(taskId: string): string {
    return join(this.taskDir(taskId), 'prompt.md');
  }

  /** The readable log of a question; that of a task lies in its project. */
  logFile(taskId: string): string {
    return join(this.taskDir(taskId), 'task.log');
  }

  keeperLog(taskId: string): string {
    return join(this.taskDir(taskId), 'keeper.log');
  }

  /** The ticket of a task that waits in the queue; in a folder of its own, so that the queue is found at a glance. */
  ticketFile(taskId: string): string {
    return join(this.queueDir, `${basename(this.taskDir(taskId))}.json`);
  }

  /** Makes the folder of a new task, for us alone. Throws STATE_UNUSABLE, also when the task has one already. */
  async createTaskDir(taskId: string): Promise<string> {
    const folder = this.taskDir(taskId);
    try {
      await makeFolders(this.tasksDir, OWNER_ONLY);
      await mkdir(folder, { mode: OWNER_ONLY });
      // Else a record in it, which is durable, may have no name after a power loss.
      await syncFolder(this.tasksDir);
      return folder;
    } catch (error) {
      throw unusable(folder, `cannot be made: ${messageOf(error)}`, error);
    }
  }

  /** Notes that `childId` was started inside a task. Throws STATE_UNUSABLE. */
  async addChild(taskId: string, childId: string): Promise<void> {
    const folder = join(this.taskDir(taskId), CHILDREN);
    try {
      await makeFolders(folder, OWNER_ONLY);
      await writeFile(join(folder, basename(this.taskDir(childId))), '', { mode: 0o600 });
    } catch (error) {
      throw unusable(folder, `cannot be written: ${messageOf(error)}`, error);
    }
  }

  /** Ids of the tasks that were started inside a task. */
  async childrenOf(taskId: string): Promise<string[]> {
    try {
      const names = await readdir(join(this.taskDir(taskId), CHILDREN));
      return names.filter((name) => TASK_ID_PATTERN.test(name));
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return [];
      throw unusable(this.taskDir(taskId), `cannot be read: ${messageOf(error)}`, error);
    }
  }

  /** Removes a task and all of its files; a task that is not there is removed already. */
  async removeTaskDir(taskId: string): Promise<void> {
    const folder = this.taskDir(taskId);
    try {
      await rm(folder, {
        recursive: true,
        force: true,
        maxRetries: LAST_LINES_TRIES,
        retryDelay: LAST_LINES_MS,
      });
    } catch (error) {
      throw unusable(folder, `cannot be removed: ${messageOf(error)}`, error);
    }
  }

  /** Ids of all tasks, those whose record (or folder, while there is none) changed last first. Foreign names are left out. */
  async listTaskIds(): Promise<string[]> {
    let names: readonly string[];
    try {
      names = await this.#taskFolders.list();
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return [];
      throw unusable(this.tasksDir, `cannot be listed: ${messageOf(error)}`, error);
    }
    const ids = names.filter((name) => TASK_ID_PATTERN.test(name));
    const dated = await Promise.all(ids.map(async (id) => ({ id, changedMs: await this.#changedMs(id) })));
    return dated
      .filter((task) => task.changedMs !== undefined)
      .sort((a, b) => (b.changedMs ?? 0) - (a.changedMs ?? 0) || (a.id < b.id ? -1 : 1))
      .map(({ id }) => id);
  }

  /** Undefined for a task that was removed meanwhile. */
  async #changedMs(taskId: string): Promise<number | undefined> {
    for (const path of [this.recordFile(taskId), this.taskDir(taskId)]) {
      try {
        return (await stat(path)).mtimeMs;
      } catch (error) {
        if (systemCodeOf(error) !== 'ENOENT')
          throw unusable(path, `cannot be read: ${messageOf(error)}`, error);
      }
    }
    return undefined;
  }
}

function unusable(path: string, what: string, cause?: unknown): BridgeError {
  return new BridgeError('STATE_UNUSABLE', `The state directory cannot be used: ${path} ${what}.`, WAY_OUT, {
    cause,
  });
}
