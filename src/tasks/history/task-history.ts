import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../../base/files/json-file.js';
import { readRegularFile } from '../../base/files/regular-file.js';
import { countedNoun } from '../../base/text.js';
import { requireOwnState } from '../../store/machine.js';
import type { StateDir } from '../../store/state-dir.js';
import { keepSpending } from '../budget/day-spending.js';
import { CURRENT_PROMPT, projectFilePaths } from '../project-folder.js';
import { isFinal, isNative, purposeOf, type TaskPurpose, type TaskRecord } from '../task.js';
import { isVerified, requireNotVerified } from '../record/not-verified.js';
import type { WorktreeMaker } from '../worktree-maker.js';

const DAY_MS = 86_400_000;
/** Answers of the toolset `conversation` that stay: any of them can be continued from. */
const STORED_ANSWERS = 200;
/** Far more than a prompt has. */
const MAX_PROMPT = 16 * 1024 * 1024;
/** Names of files of a task, see `StateDir`. A part that was rotated has `.1` behind its name. */
const RECORDING = 'terminal.cast';
const LOGS = ['journal.ndjson', 'keeper.log', 'task.log'];
/** In the order in which they go: a recording is the largest and says the least. `task`: all that is left. */
const parts = ['recording', 'log', 'task'] as const;
type TaskPart = (typeof parts)[number];

export interface HistorySettings {
  readonly task_history_size: number;
  readonly task_history_days: number;
  /** Of all ended tasks together. */
  readonly task_history_bytes: number;
}

interface TaskHistoryOptions {
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

interface EndedTask {
  readonly record: TaskRecord;
  readonly endedMs: number;
  readonly files: Awaited<ReturnType<StateDir['filesOf']>>;
}

/** The tasks that have ended, within the bounds of the settings. */
export class TaskHistory {
  readonly #options: TaskHistoryOptions;

  constructor(options: TaskHistoryOptions) {
    this.#options = options;
  }

  /**
   * Removes what the settings have no room for, or `keep` instead of `task_history_size`, never a task that runs. `started` counts as
   * ended and stays, so that there are as many when it has ended. Throws STATE_UNUSABLE.
   */
  async prune(keep?: number, started?: TaskRecord): Promise<Pruned> {
    const { stateDir, settings, clock } = this.#options;
    await requireOwnState(stateDir.path);
    const size = keep ?? settings.task_history_size;
    const left: Record<'native' | TaskPurpose, number> = { task: size, native: size, ask: STORED_ANSWERS };
    if (started !== undefined) left[kindOf(started)]--;
    const removed: TaskRecord[] = [];
    const withWork: TaskRecord[] = [];
    const lost: string[] = [];
    const remove = async (record: TaskRecord, why: keyof HistorySettings): Promise<void> => {
      if (await this.#holdsWork(record)) return void withWork.push(record);
      await this.#removeTask(record);
      removed.push(record);
      lost.push(`task (${why})`);
    };
    const stay: EndedTask[] = [];
    for (const one of await this.#ended(started?.task_id)) {
      const isOld = clock.now() - one.endedMs > settings.task_history_days * DAY_MS;
      if (--left[kindOf(one.record)] < 0) await remove(one.record, 'task_history_size');
      else if (isOld) await remove(one.record, 'task_history_days');
      else stay.unshift(one);
    }
    let tooMany = stay.reduce((sum, { files }) => sum + bytesIn(files), 0) - settings.task_history_bytes;
    for (const part of parts) {
      for (const { record, files } of stay) {
        const those = files.filter(({ name }) => partOf(name) === part);
        if (tooMany <= 0 || those.length === 0) continue;
        tooMany -= bytesIn(those);
        if (part === 'task') await remove(record, 'task_history_bytes');
        else {
          for (const { name } of those)
            await rm(join(stateDir.taskDir(record.task_id), name), { force: true });
          lost.push(`${part} (task_history_bytes)`);
        }
      }
    }
    if (lost.length > 0) await noteHistory(stateDir.path, lostWords(lost, clock.now()));
    return { removed, withWork };
  }

  /**
   * Removes a task that has ended with all its files, those in its project too. Throws TASK_NOT_FOUND, and TASK_ALREADY_RUNNING while it
   * is verified, INVALID_ARGUMENTS for one that runs, and, without `force`, for one whose worktree holds work, which stays in any case.
   */
  async remove(record: TaskRecord, force: boolean): Promise<void> {
    const { task_id: id, status, worktree, project_path } = record;
    if (!isFinal(status))
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        `Task ${id} is ${status}: only a task that has ended can be removed. Nothing was removed.`,
        [{ do: 'end', task: id }],
      );
    const { stateDir } = this.#options;
    await requireNotVerified(stateDir, id);
    if (!force && worktree !== undefined && (await this.#holdsWork(record)))
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        `The worktree of ${id}, ${worktree.path}, holds work that only its record names. Nothing was removed.`,
        'Bring the work home first (merge, apply or discard), or add --force: then the worktree stays where it is.',
      );
    await requireOwnState(stateDir.path);
    const { logFile, promptFile } = projectFilePaths(worktree?.project_path ?? project_path, id);
    await removeCopy(join(dirname(promptFile), CURRENT_PROMPT), stateDir.promptFile(id));
    for (const path of [logFile, `${logFile}.1`, promptFile]) await rm(path, { force: true });
    await this.#removeTask(record);
  }

  /** The newest first. */
  async #ended(except: string | undefined): Promise<EndedTask[]> {
    const { stateDir, read } = this.#options;
    const ended: EndedTask[] = [];
    for (const id of await stateDir.listTaskIds()) {
      const record = await read(id);
      if (record === undefined || !isFinal(record.status) || id === except) continue;
      const endedMs = Date.parse(record.ended_at ?? record.created_at);
      ended.push({ record, endedMs, files: await stateDir.filesOf(id) });
    }
    return ended.sort((one, other) => other.endedMs - one.endedMs);
  }

  async #removeTask(record: TaskRecord): Promise<void> {
    const { stateDir, clock } = this.#options;
    await keepSpending(stateDir, record, clock.now());
    await stateDir.removeTaskDir(record.task_id);
  }

  /** A worktree without work goes with its task; one with work keeps it, since the record is what names it. One that is verified stays, too. */
  async #holdsWork({ worktree, task_id }: TaskRecord): Promise<boolean> {
    if (await isVerified(this.#options.stateDir, task_id)) return true;
    if (worktree === undefined || worktree.finished !== undefined) return false;
    return (await this.#options.worktrees?.removeUnlessWork(worktree)) !== true;
  }
}

const noteSchema = z.object({ words: z.string(), told: z.boolean().default(false) });

/** Leaves in the state directory, in a sentence, what was lost or moved last. Throws STATE_UNUSABLE. */
export async function noteHistory(statePath: string, words: string, told = false): Promise<void> {
  await writeJsonFileAtomically(noteFile(statePath), { words, told }, { durable: false });
}

/** What the history lost last, in one sentence; undefined for nothing, and with `once` from the second time on. Throws STATE_UNUSABLE. */
export async function historyWords(statePath: string, once = false): Promise<string | undefined> {
  const file = await readJsonFile(noteFile(statePath), noteSchema);
  if (file.state !== 'ok' || (once && file.value.told)) return undefined;
  if (once) await noteHistory(statePath, file.value.words, true);
  return file.value.words;
}

function noteFile(statePath: string): string {
  return join(statePath, 'history.json');
}

/** `lost`: what, and the setting that had no room for it. */
function lostWords(lost: readonly string[], nowMs: number): string {
  const counts = [...new Set(lost)].map((one) => {
    const [noun = '', ...setting] = one.split(' ');
    return [countedNoun(lost.filter((other) => other === one).length, noun), ...setting].join(' ');
  });
  return `Removed from the history at ${new Date(nowMs).toISOString()}: ${counts.join(', ')}.`;
}

/** What is counted together. */
function kindOf(record: TaskRecord): 'native' | TaskPurpose {
  return isNative(record) ? 'native' : purposeOf(record);
}

function partOf(name: string): TaskPart {
  if (name.startsWith(RECORDING)) return 'recording';
  return LOGS.some((log) => name.startsWith(log)) ? 'log' : 'task';
}

function bytesIn(files: EndedTask['files']): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Removes a copy of a file, and nothing else that has its name. */
async function removeCopy(path: string, of: string): Promise<void> {
  const read = [path, of].map((file) => readRegularFile(file, MAX_PROMPT));
  const [copy, original] = await Promise.all(read);
  if (copy?.state === 'ok' && original?.state === 'ok' && original.bytes.equals(copy.bytes))
    await rm(path, { force: true });
}
