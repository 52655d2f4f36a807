import { mkdirSync, unlinkSync, utimesSync, writeFileSync, type Dirent } from 'node:fs';
import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { syncFolder, makeFolders } from '../base/files/folders.js';
import { BridgeError, messageOf, systemCodeOf } from '../base/errors.js';
import { TASK_ID_PATTERN } from '../base/ids.js';
import { adoptState, canBecomeStateDir, isStateDir, requireOwnState } from './machine.js';
import { announce, linkedProcess, linkToSelf } from './owner-state.js';
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
    throw new BridgeError('TASK_NOT_FOUND', `No task has the id ${JSON.stringify(taskId.slice(0, 100))}.`, [
      { do: 'list' },
    ]);
  }

  readonly recordFile = (taskId: string): string => join(this.taskDir(taskId), 'record.json');
  readonly journalFile = (taskId: string): string => join(this.taskDir(taskId), 'journal.ndjson');
  readonly recordingFile = (taskId: string): string => join(this.taskDir(taskId), 'terminal.cast');
  readonly specFile = (taskId: string): string => join(this.taskDir(taskId), 'spec.json');
  readonly promptFile = (taskId: string): string => join(this.taskDir(taskId), 'prompt.md');
  /** The log of a question; that of a task is in its project. */
  readonly logFile = (taskId: string): string => join(this.taskDir(taskId), 'task.log');
  /** A link that names the process that runs the checks of the task in a clean copy. */
  readonly verifierFile = (taskId: string): string => join(this.taskDir(taskId), 'verifier');
  readonly keeperLog = (taskId: string): string => join(this.taskDir(taskId), 'keeper.log');

  /** The ticket of a task that waits in the queue; one folder holds all tickets, so that the queue is listed with one call. */
  ticketFile(taskId: string): string {
    return join(this.queueDir, `${basename(this.taskDir(taskId))}.json`);
  }

  /** What lies among the tickets. Throws STATE_UNUSABLE. */
  async ticketNames(): Promise<string[]> {
    return (await entriesIn(this.queueDir)).map(({ name }) => name);
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
      mkdirSync(this.changesDir, { recursive: true, mode: OWNER_ONLY });
      writeFileSync(path, '', { mode: OWNER_ONLY_FILE, flag: 'a' });
      const now = new Date();
      utimesSync(path, now, now);
      if (isOver) unlinkSync(path);
    } catch (error) {
      if (systemCodeOf(error) === undefined) throw error;
    }
  }

  /** The tasks that have a change file: those that have not ended. Throws STATE_UNUSABLE. */
  async changingIds(): Promise<string[]> {
    const names = (await entriesIn(this.changesDir)).map(({ name }) => name);
    return names.filter((name) => TASK_ID_PATTERN.test(name));
  }

  /** Creates the private folder of a new task. Throws STATE_UNUSABLE, also when it exists, and in the state directory of another machine. */
  async createTaskDir(taskId: string): Promise<string> {
    const folder = this.taskDir(taskId);
    // Before this process listens there: a person could not adopt the folder while it does.
    await requireOwnState(this.path);
    try {
      await makeFolders(this.tasksDir, OWNER_ONLY);
      await announce(this.path);
      await mkdir(folder, { mode: OWNER_ONLY });
      await linkToSelf(startedBy(folder), this.path);
      // Otherwise a power loss could remove the folder's name, and with it a durable record.
      await syncFolder(this.tasksDir);
      return folder;
    } catch (error) {
      throw unusable(folder, `cannot be created: ${messageOf(error)}`, error);
    }
  }

  /** Whether the process that created the folder of the task lives, or is not known to be gone. No clock decides that. Throws the system's error. */
  async isStarting(taskId: string): Promise<boolean> {
    return (await linkedProcess(startedBy(this.taskDir(taskId)), this.path)).state !== 'gone';
  }

  /** The names and sizes of what is in the folder of a task; none for one that is gone. */
  async filesOf(taskId: string): Promise<{ readonly name: string; readonly bytes: number }[]> {
    const folder = this.taskDir(taskId);
    const sizes = (await entriesIn(folder)).map(async ({ name }) => {
      // Another server may remove a task at any time.
      const facts = await lstat(join(folder, name)).catch(() => undefined);
      return { name, bytes: facts?.size ?? 0 };
    });
    return Promise.all(sizes);
  }

  /** Removes a task and all its files, if it exists. */
  async removeTaskDir(taskId: string): Promise<void> {
    const folder = this.taskDir(taskId);
    try {
      const again = { maxRetries: LAST_LINES_TRIES, retryDelay: LAST_LINES_MS };
      await rm(folder, { recursive: true, force: true, ...again });
      this.noteChange(taskId, true);
    } catch (error) {
      throw unusable(folder, `cannot be removed: ${messageOf(error)}`, error);
    }
  }

  /** The ids of all tasks, sorted by the time that they begin with, newest first. Skips foreign names. */
  async listTaskIds(): Promise<string[]> {
    const folders = (await entriesIn(this.tasksDir)).filter((entry) => entry.isDirectory());
    const names = folders.map(({ name }) => name).filter((name) => TASK_ID_PATTERN.test(name));
    return names.sort().reverse();
  }
}

/** A link to the process that made the folder of a task. */
function startedBy(folder: string): string {
  return join(folder, 'started-by');
}

/** None for a folder that is missing. Throws STATE_UNUSABLE. */
async function entriesIn(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return [];
    throw unusable(folder, `cannot be listed: ${messageOf(error)}`, error);
  }
}

function unusable(path: string, what: string, cause?: unknown): BridgeError {
  return new BridgeError('STATE_UNUSABLE', `The state directory cannot be used: ${path} ${what}.`, HINT, {
    cause,
  });
}
