import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.js';
import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../../base/files/json-file.js';
import { readRegularFile } from '../../base/files/regular-file.js';
import { requireOwnState } from '../../store/machine.js';
import type { StateDir } from '../../store/state-dir.js';
import { keepSpending } from '../budget/day-spending.js';
import { CURRENT_PROMPT, projectFilePaths } from '../project-folder.js';
import { isFinal, isNative, purposeOf, type TaskRecord } from '../task.js';

import type { WorktreeMaker } from '../worktree-maker.js';
import {
  planHistory,
  removalWords,
  type HistoryKind,
  type Removal,
  type StoredTask,
  type TaskBytes,
  type TaskPart,
} from './history-plan.js';

/** Answers of the toolset `conversation` that stay: any of them can be continued from. */
const STORED_ANSWERS = 200;
/** Far more than a prompt has. */
const MAX_PROMPT = 16 * 1024 * 1024;
/** Names in the folder of a task, see `StateDir`. A part that was rotated has `.1` behind its name. */
const RECORDING = 'terminal.cast';
const LOGS = ['journal.ndjson', 'keeper.log', 'task.log'];

export interface HistorySettings {
  readonly task_history_size: number;
  readonly task_history_days: number;
  readonly task_history_bytes: number;
}

export interface TaskHistoryOptions {
  readonly stateDir: StateDir;
  readonly clock: Clock;
  /** Undefined for a record that cannot be read. */
  readonly read: (taskId: string) => Promise<TaskRecord | undefined>;
  readonly worktrees?: WorktreeMaker | undefined;
  readonly settings: HistorySettings;
}

export interface Pruned {
  readonly removed: readonly TaskRecord[];
  /** These stay, since only the record names the work in their worktrees. */
  readonly withWork: readonly TaskRecord[];
}

/** The tasks that have ended, within the bounds of the settings. */
export class TaskHistory {
  readonly #options: TaskHistoryOptions;
  /** Of tasks that have ended: their files grow no more. */
  readonly #bytes = new Map<string, TaskBytes>();

  constructor(options: TaskHistoryOptions) {
    this.#options = options;
  }

  /**
   * Removes what the settings have no room for, or `keep` instead of `task_history_size`, never a task that runs. `started` counts as
   * ended and stays, so that there are as many when it has ended.
   */
  async prune(keep?: number, started?: TaskRecord): Promise<Pruned> {
    const { stateDir, read, settings, clock } = this.#options;
    await requireOwnState(stateDir.path);
    const size = keep ?? settings.task_history_size;
    const count = { task: size, native: size, ask: STORED_ANSWERS };
    if (started !== undefined) count[kindOf(started)]--;
    const records = new Map<string, TaskRecord>();
    const stored: StoredTask[] = [];
    for (const id of await stateDir.listTaskIds()) {
      const record = await read(id);
      if (record === undefined || !isFinal(record.status) || id === started?.task_id) continue;
      records.set(id, record);
      const endedMs = Date.parse(record.ended_at ?? record.created_at);
      stored.push({ id, kind: kindOf(record), endedMs, bytes: await this.#bytesOf(id) });
    }
    const bounds = { count, days: settings.task_history_days, bytes: settings.task_history_bytes };
    stored.sort((one, other) => other.endedMs - one.endedMs);
    return this.#remove(planHistory(stored, bounds, clock.now()), records);
  }

  /**
   * Removes a task that has ended with all its files, those in its project too. Throws TASK_NOT_FOUND, and INVALID_ARGUMENTS for one
   * that runs, and, without `force`, for one whose worktree holds work, which stays in any case.
   */
  async remove(record: TaskRecord, force: boolean): Promise<void> {
    const { task_id: id, status, worktree, project_path } = record;
    if (!isFinal(status))
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        `Task ${id} is ${status}: only a task that has ended can be removed. Nothing was removed.`,
        `End it first, with kill_task ${id}.`,
      );
    if (!force && worktree !== undefined && (await this.#holdsWork(record)))
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        `The worktree of ${id}, ${worktree.path}, holds work that only its record names. Nothing was removed.`,
        `Bring the work home with finish_task ${id} merge (or apply, or discard), or add --force: then the worktree stays where it is.`,
      );
    const { stateDir } = this.#options;
    await requireOwnState(stateDir.path);
    const { logFile, promptFile } = projectFilePaths(worktree?.project_path ?? project_path, id);
    await removeCopy(join(dirname(promptFile), CURRENT_PROMPT), stateDir.promptFile(id));
    for (const path of [logFile, `${logFile}.1`, promptFile]) await rm(path, { force: true });
    await this.#removeTask(record);
  }

  async #remove(plan: readonly Removal[], records: ReadonlyMap<string, TaskRecord>): Promise<Pruned> {
    const { stateDir, clock } = this.#options;
    const removed: TaskRecord[] = [];
    const withWork: TaskRecord[] = [];
    const done: Removal[] = [];
    for (const removal of plan) {
      const { id, part } = removal;
      const record = records.get(id);
      if (record === undefined) continue;
      if (part === 'task' && (await this.#holdsWork(record))) {
        withWork.push(record);
        continue;
      }
      if (part === 'task') {
        await this.#removeTask(record);
        removed.push(record);
      } else await this.#removePart(id, part);
      this.#bytes.delete(id);
      done.push(removal);
    }
    const words = removalWords(done, clock.now());
    if (words !== undefined) await noteHistory(stateDir.path, words);
    return { removed, withWork };
  }

  async #removeTask(record: TaskRecord): Promise<void> {
    const { stateDir, clock } = this.#options;
    await keepSpending(stateDir, record, clock.now());
    await stateDir.removeTaskDir(record.task_id);
  }

  async #removePart(id: string, part: TaskPart): Promise<void> {
    const { stateDir } = this.#options;
    for (const { name } of await stateDir.filesOf(id))
      if (partOf(name) === part) await rm(join(stateDir.taskDir(id), name), { force: true });
  }

  /** A worktree without work goes with its task; one with work keeps it, since the record is what names it. */
  async #holdsWork({ worktree }: TaskRecord): Promise<boolean> {
    if (worktree === undefined || worktree.finished !== undefined) return false;
    return (await this.#options.worktrees?.removeUnlessWork(worktree)) !== true;
  }

  async #bytesOf(id: string): Promise<TaskBytes> {
    const known = this.#bytes.get(id);
    if (known !== undefined) return known;
    const bytes = { recording: 0, logs: 0, task: 0 };
    for (const file of await this.#options.stateDir.filesOf(id)) bytes[partOf(file.name)] += file.bytes;
    this.#bytes.set(id, bytes);
    return bytes;
  }
}

const noteSchema = z.object({ words: z.string() });

/** Leaves in the state directory, in a sentence, what was lost or moved last. Throws STATE_UNUSABLE. */
export async function noteHistory(statePath: string, words: string): Promise<void> {
  await writeJsonFileAtomically(noteFile(statePath), { words }, { durable: false });
}

/** What the history lost last, in one sentence; undefined for nothing. Throws STATE_UNUSABLE. */
export async function historyWords(statePath: string): Promise<string | undefined> {
  const file = await readJsonFile(noteFile(statePath), noteSchema);
  return file.state === 'ok' ? file.value.words : undefined;
}

function noteFile(statePath: string): string {
  return join(statePath, 'history.json');
}

function kindOf(record: TaskRecord): HistoryKind {
  return isNative(record) ? 'native' : purposeOf(record);
}

/** Which part of a task a file in its folder is. */
function partOf(name: string): TaskPart {
  if (name.startsWith(RECORDING)) return 'recording';
  return LOGS.some((log) => name.startsWith(log)) ? 'logs' : 'task';
}

/** Removes a copy of a file, and nothing else that has its name. */
async function removeCopy(path: string, of: string): Promise<void> {
  const [copy, original] = await Promise.all([
    readRegularFile(path, MAX_PROMPT),
    readRegularFile(of, MAX_PROMPT),
  ]);
  if (copy.state === 'ok' && original.state === 'ok' && original.bytes.equals(copy.bytes))
    await rm(path, { force: true });
}
