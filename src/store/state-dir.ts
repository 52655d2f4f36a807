import { mkdirSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { syncFolder, makeFolders } from '../base/files/folders.js';
import { BridgeError, messageOf, systemCodeOf } from '../base/errors.js';
import { TASK_ID_PATTERN } from '../base/ids.js';
import { adoptState, canBecomeStateDir, isStateDir, requireOwnState } from './machine.js';
import { markStart, unmarkStart } from './starting.js';
import { ensurePrivateFolder } from './private-folder.js';

const OWNER_ONLY = 0o700;
const OWNER_ONLY_FILE = 0o600;
/** A keeper that fails to start its agent reports that before it writes its last log lines: each try waits this much longer. */
const LAST_LINES_TRIES = 6;
const LAST_LINES_MS = 20;
const HINT = 'Repair it, or set MCP_STATE_DIR to a writable folder of your own, and restart the bridge.';

/**
 * Opens the state directory, or creates it, and removes the access of others. Its `machine.json` comes first: a folder that holds
 * anything else and has none stays as it is. Throws BridgeError STATE_UNUSABLE, with the path and the problem, unless it is a folder
 * of this user (not a link).
 */
export async function openStateDir({
  path,
  uid = process.getuid?.() ?? 0,
}: {
  readonly path: string;
  readonly uid?: number;
}): Promise<StateDir> {
  if (!isAbsolute(path)) throw unusable(path, 'is not an absolute path');
  await ensurePrivateFolder(path, uid, HINT, requireStateDir);
  if (!(await isStateDir(path))) await adoptState(path, null);
  const state = new StateDir(path);
  await ensurePrivateFolder(state.tasksDir, uid, HINT);
  await ensurePrivateFolder(state.lockDir, uid, HINT);
  return state;
}

/** Throws STATE_UNUSABLE for a folder that holds anything and is no state directory. Changes nothing. */
export async function requireStateDir(path: string): Promise<void> {
  if ((await isStateDir(path)) || (await canBecomeStateDir(path))) return;
  throw new BridgeError(
    'STATE_UNUSABLE',
    `The folder ${path} holds files and is no state directory of the bridge: it has no machine.json of the bridge. Nothing in it was changed.`,
    'Set MCP_STATE_DIR, or state_dir in the settings, to a new or an empty folder, and restart the bridge.',
  );
}

/** The paths in the state directory. Each method that takes a task id throws TASK_NOT_FOUND if it is not one. */
export class StateDir {
  readonly path: string;
  readonly tasksDir: string;
  readonly lockDir: string;
  readonly queueDir: string;
  /** Holds a file for each task that has not ended, which is dated again when the record changes. */
  readonly changesDir: string;

  constructor(path: string) {
    this.path = path;
    this.tasksDir = join(path, 'tasks');
    this.lockDir = join(path, 'locks');
    this.queueDir = join(path, 'queue');
    this.changesDir = join(path, 'changes');
  }

  taskDir(taskId: string): string {
    // Ids come from callers: only a valid id may become part of a path.
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

  /** The log of a question; that of a task is in its project. */
  logFile(taskId: string): string {
    return join(this.taskDir(taskId), 'task.log');
  }

  keeperLog(taskId: string): string {
    return join(this.taskDir(taskId), 'keeper.log');
  }

  /** The ticket of a task that waits in the queue; one folder holds all tickets, so that the queue is listed with one call. */
  ticketFile(taskId: string): string {
    return join(this.queueDir, `${basename(this.taskDir(taskId))}.json`);
  }

  /** Dated when the record of the task was written last, or could not be; gone when it has ended. */
  changeFile(taskId: string): string {
    return join(this.changesDir, basename(this.taskDir(taskId)));
  }

  /**
   * Says to all who follow the task that its record was written, or could not be; `isOver`: for the last time. What the disk refuses is
   * ignored: followers read the task now and then all the same.
   */
  noteChange(taskId: string, isOver: boolean): void {
    const path = this.changeFile(taskId);
    try {
      const now = new Date();
      if (!dated(path, now)) {
        mkdirSync(this.changesDir, { recursive: true, mode: OWNER_ONLY });
        writeFileSync(path, '', { mode: OWNER_ONLY_FILE });
      }
      if (isOver) unlinkSync(path);
    } catch (error) {
      if (systemCodeOf(error) === undefined) throw error;
    }
  }

  /** The tasks that have a change file: those that have not ended. Throws STATE_UNUSABLE. */
  async changingIds(): Promise<string[]> {
    try {
      return (await readdir(this.changesDir)).filter((name) => TASK_ID_PATTERN.test(name));
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return [];
      throw unusable(this.changesDir, `cannot be listed: ${messageOf(error)}`, error);
    }
  }

  /** Creates the private folder of a new task. Throws STATE_UNUSABLE, also when it exists, and in the state directory of another machine. */
  async createTaskDir(taskId: string): Promise<string> {
    const folder = this.taskDir(taskId);
    // Before this process listens there: a person could not adopt the folder while it does.
    await requireOwnState(this.path);
    try {
      await makeFolders(this.tasksDir, OWNER_ONLY);
      await markStart(this.path, taskId);
      await mkdir(folder, { mode: OWNER_ONLY });
      // Otherwise a power loss could remove the folder's name, and with it a durable record.
      await syncFolder(this.tasksDir);
      return folder;
    } catch (error) {
      throw unusable(folder, `cannot be created: ${messageOf(error)}`, error);
    }
  }

  /** The names and sizes of what is in the folder of a task; none for one that is gone. */
  async filesOf(taskId: string): Promise<{ readonly name: string; readonly bytes: number }[]> {
    const folder = this.taskDir(taskId);
    const names = await readdir(folder).catch(ignoreMissing);
    const sizes = (names ?? []).map(async (name) => ({
      name,
      bytes: (await lstat(join(folder, name)).catch(ignoreMissing))?.size ?? 0,
    }));
    return Promise.all(sizes);
  }

  /** Removes a task and all its files, if it exists. */
  async removeTaskDir(taskId: string): Promise<void> {
    const folder = this.taskDir(taskId);
    try {
      await rm(folder, {
        recursive: true,
        force: true,
        maxRetries: LAST_LINES_TRIES,
        retryDelay: LAST_LINES_MS,
      });
      unmarkStart(this.path, taskId);
      this.noteChange(taskId, true);
    } catch (error) {
      throw unusable(folder, `cannot be removed: ${messageOf(error)}`, error);
    }
  }

  /** The ids of all tasks, sorted by the time that they begin with, newest first. Skips foreign names. */
  async listTaskIds(): Promise<string[]> {
    try {
      const entries = await readdir(this.tasksDir, { withFileTypes: true });
      const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
      return folders
        .filter((name) => TASK_ID_PATTERN.test(name))
        .sort()
        .reverse();
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return [];
      throw unusable(this.tasksDir, `cannot be listed: ${messageOf(error)}`, error);
    }
  }
}

/** False when there is no such file. */
function dated(path: string, now: Date): boolean {
  try {
    utimesSync(path, now, now);
    return true;
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
    return false;
  }
}

/** Another server may remove a task at any time. */
function ignoreMissing(error: unknown): undefined {
  if (systemCodeOf(error) !== 'ENOENT') throw error;
}

function unusable(path: string, what: string, cause?: unknown): BridgeError {
  return new BridgeError('STATE_UNUSABLE', `The state directory cannot be used: ${path} ${what}.`, HINT, {
    cause,
  });
}
