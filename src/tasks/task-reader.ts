import type { Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import { TASK_ID_PATTERN } from '../base/ids.js';
import { invalidCursor } from '../base/input.js';
import { lazily } from '../base/lifecycle.js';
import { headBytes, oneLine } from '../base/text.js';
import type { AllowedPath } from '../projects/allowed-roots.js';
import { readJournal } from '../store/journal-reader.js';
import { foreignState } from '../store/machine.js';
import { ownerState } from '../store/owner-state.js';
import { LOG_IS_GONE, readLogPage, type LogPage } from '../store/pages.js';
import { ownIdentity } from '../store/process-identity.js';
import type { ProcessIdentity } from '../store/process-place.js';
import { asQueued, type Standing } from './queue/queue-order.js';
import {
  liveRecord,
  readRecordFile,
  recordOf,
  recordOfKeeper,
  type RecordFile,
} from './record/record-file.js';
import { endUnreadable, recoverTask, type RecoveryParts } from './record/recovery.js';
import { isFinal, isNative, purposeOf, type TaskRecord, type TaskStatus } from './task.js';
import type { TaskHost, TaskLink } from './task-host.js';
import { TaskUnreachable } from './task-refusals.js';
import type { OutputPage, OutputQuery, TaskPage, TaskQuery, UnreadableTask } from './task-service.js';

/** A list waits so long for each task that another server is giving its end. */
const LIST_WAIT_MS = 2_000;
const SHOWN_CURSOR_CHARS = 60;

interface TaskReaderOptions extends RecoveryParts {
  readonly host: TaskHost;
  readonly roots: { resolveDirectory(input: string): Promise<AllowedPath> };
  /** The current position of each queued task. */
  readonly standings: () => Promise<ReadonlyMap<string, Standing>>;
  /** Who keeps a task, by its project's lock; undefined for one whose keeper is gone, and for one without a lock. */
  readonly ownerOf: (taskId: string) => Promise<ProcessIdentity | undefined>;
}

/** A task on disk; `file` is rejected where the system does not let it be read now. */
interface StoredTask {
  readonly id: string;
  readonly file: PromiseSettledResult<RecordFile>;
}

/** Reads tasks: records and journals on disk, and the screens of running ones. */
export class TaskReader {
  readonly #options: TaskReaderOptions;

  constructor(options: TaskReaderOptions) {
    this.#options = options;
  }

  /** The record on disk; undefined when there is none, or it cannot be read. */
  async read(taskId: string): Promise<TaskRecord | undefined> {
    return recordOf(await this.#readFile(taskId));
  }

  /** Throws TASK_NOT_FOUND, and STATE_UNUSABLE for a record that cannot be read. A task whose keeper is gone is given its truthful end first. */
  async get(taskId: string): Promise<TaskRecord> {
    const record = await this.#recordIn(taskId, await this.#readFile(taskId), this.#options.standings);
    if (record !== undefined) return this.#live(record);
    throw new BridgeError('TASK_NOT_FOUND', `Task not found: ${oneLine(taskId, 80)}.`, [{ do: 'list' }]);
  }

  /** Newest first. Throws INVALID_ARGUMENTS for an invalid cursor, and as `resolveDirectory` for the path. */
  async list({ path, ...query }: TaskQuery): Promise<TaskPage> {
    const { roots, standings, stateDir } = this.#options;
    const project = path === undefined ? undefined : await roots.resolveDirectory(path);
    const [ids, foreign] = await Promise.all([stateDir.listTaskIds(), foreignState(stateDir.path)]);
    const files = await Promise.allSettled(ids.map((id) => this.#readFile(id)));
    // By their time: no task changes its place between two pages.
    const stored = files.map((file, index) => ({ id: ids[index] ?? '', file })).sort(newestFirst);
    const from = query.cursor === undefined ? 0 : stored.findIndex(({ id }) => id === query.cursor) + 1;
    if (query.cursor !== undefined && from === 0) throw invalidCursor();
    const tasks: TaskRecord[] = [];
    const unreadable: UnreadableTask[] = [];
    // The queue is read once for the whole page.
    const once = lazily(standings);
    let cursor: string | undefined;
    for (const { id, file } of stored.slice(from)) {
      try {
        if (file.status === 'rejected') throw file.reason;
        const record = await this.#recordIn(id, file.value, once, LIST_WAIT_MS);
        if (record === undefined || !isWanted(record, query, project)) continue;
        if (tasks.length === query.limit) cursor = tasks.at(-1)?.task_id;
        else tasks.push(record);
      } catch (error) {
        // Its keeper does not answer, or another server is still giving it its end: it does not hide the others.
        unreadable.push({ task_id: id, why: unreadableWhy(error) });
      }
      if (cursor !== undefined) break;
    }
    const live = await Promise.all(tasks.map((task) => this.#live(task)));
    return { tasks: live, unreadable, foreign, ...(cursor !== undefined && { cursor }) };
  }

  /** One page of what the task wrote, at most `maxBytes` long. Throws TASK_NOT_FOUND, NOT_READABLE. */
  async output(query: OutputQuery): Promise<OutputPage> {
    const task = await this.get(query.taskId);
    return { task, ...(await this.#page(task, query)) };
  }

  async #page(task: TaskRecord, { view, cursor, maxBytes }: OutputQuery): Promise<LogPage> {
    if (view === 'log') {
      const page = await readLogPage(task.log_file, cursor, maxBytes);
      // A task that never began has no log.
      return page.isMissing === true && task.started_at !== null ? { ...page, text: LOG_IS_GONE } : page;
    }
    if (view === 'screen') {
      // Its answer holds an empty cursor, which may come back.
      if (cursor !== undefined && cursor !== '') throw noPages(cursor);
      const text = headBytes(await this.#screen(task), maxBytes);
      return { text, cursor: '', more: false, totalBytes: Buffer.byteLength(text) };
    }
    if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) throw invalidCursor();
    const journal = this.#options.stateDir.journalFile(task.task_id);
    const page = await readJournal(journal, { afterSeq: Number(cursor ?? 0), maxBytes });
    const text = page.entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    return { text, cursor: String(page.nextSeq), more: page.more, totalBytes: Buffer.byteLength(text) };
  }

  async #screen(record: TaskRecord): Promise<string> {
    if (isFinal(record.status) || record.keeper === null) return record.last_output;
    let link: TaskLink | undefined;
    try {
      link = await this.#options.host.connect(record);
      if (link !== undefined) return (await link.screen()).text;
    } catch (error) {
      // One that ended while it was asked left its last screen.
      if (!(error instanceof BridgeError) || !isFinal((await this.get(record.task_id)).status)) throw error;
    } finally {
      link?.dispose();
    }
    return (await this.get(record.task_id)).last_output;
  }

  async #readFile(taskId: string): Promise<RecordFile> {
    if (!TASK_ID_PATTERN.test(taskId)) return { state: 'missing' };
    return readRecordFile(this.#options.stateDir, taskId);
  }

  /** The record as it would be if it were written now; undefined where there is none. Throws what keeps it from being read. */
  async #recordIn(
    taskId: string,
    file: RecordFile,
    standings: TaskReaderOptions['standings'],
    waitMs?: number,
  ): Promise<TaskRecord | undefined> {
    if (file.state === 'ok') return this.#current(file.record, standings, waitMs);
    if (file.state === 'missing') return undefined;
    // As its living keeper has it, else the end that says so.
    const record = await recordOfKeeper({ task_id: taskId }, this.#options);
    if (record !== undefined) return record;
    const owner = await this.#options.ownerOf(taskId);
    if (owner === undefined) return endUnreadable(taskId, file.why, this.#options);
    throw new TaskUnreachable(
      taskId,
      `it runs, but its keeper, process ${owner.pid}, does not answer. ${file.why.replace(/\.$/, '')}`,
      { endByHand: owner.pid },
    );
  }

  /** What a running task shows is known to its keeper alone. */
  async #live(record: TaskRecord): Promise<TaskRecord> {
    return isFinal(record.status) || record.keeper === null ? record : liveRecord(record, this.#options);
  }

  /** Elapsed time, place in the queue, and an end if its keeper is gone. */
  async #current(
    record: TaskRecord,
    standings: TaskReaderOptions['standings'],
    waitMs: number | undefined,
  ): Promise<TaskRecord> {
    if (isFinal(record.status)) return record;
    if (record.keeper === null) {
      const standing = (await standings()).get(record.task_id);
      if (standing !== undefined) return asQueued(record, standing);
    } else if ((await ownerState(record.keeper, this.#options.stateDir.path)) !== 'gone') {
      // Only a keeper that is provably gone leaves its task to us.
      return { ...record, elapsed_seconds: await elapsedSeconds(record, this.#options.clock) };
    }
    // The record was read before its keeper was found gone, or its ticket missing: what was written last is the truth.
    const last = (await this.read(record.task_id)) ?? record;
    if (isFinal(last.status)) return last;
    if (record.keeper === null && last.keeper !== null) return this.#current(last, standings, waitMs);
    return recoverTask(last, this.#options, { waitMs });
  }
}

/** By the times of the records; one that cannot be read comes last. */
function newestFirst(one: StoredTask, other: StoredTask): number {
  const [a = '', b = ''] = [one, other].map(({ file }) =>
    file.status === 'fulfilled' ? recordOf(file.value)?.created_at : undefined,
  );
  return b.localeCompare(a) || other.id.localeCompare(one.id);
}

/** What a list says of a task that cannot be read. Rethrows what is not about its files. */
function unreadableWhy(error: unknown): string {
  if (error instanceof BridgeError && ['STATE_UNUSABLE', 'TASK_UNREACHABLE'].includes(error.code))
    return error.message;
  throw error;
}

function noPages(cursor: string): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    `The view screen was to be read from cursor ${oneLine(JSON.stringify(cursor), SHOWN_CURSOR_CHARS)}, but it has no pages: it is the terminal as it is now.`,
    'Omit cursor, or use the view log.',
  );
}

/** Never less than what the keeper last wrote, and not by the wall clock, which may be set. */
async function elapsedSeconds(
  { started_monotonic_ms, elapsed_seconds, keeper }: TaskRecord,
  clock: Clock,
): Promise<number> {
  // The monotonic clock of another machine counts from another start.
  const isSameBoot = keeper === null || keeper.boot_id === (await ownIdentity()).boot_id;
  if (started_monotonic_ms === null || !isSameBoot) return elapsed_seconds;
  return Math.max(elapsed_seconds, Math.floor((clock.monotonicMs() - started_monotonic_ms) / 1000));
}

function isWanted(record: TaskRecord, query: TaskQuery, project: string | undefined): boolean {
  const { status, worktree, project_path } = record;
  return (
    (project === undefined || project === (worktree?.project_path ?? project_path)) &&
    hasStatus(status, query.status) &&
    purposeOf(record) === purposeOf(query) &&
    (query.native !== true || isNative(record)) &&
    (query.delegated !== true || record.delegated === true)
  );
}

function hasStatus(status: TaskStatus, wanted: TaskQuery['status']): boolean {
  if (wanted === 'active') return !isFinal(status);
  if (wanted === 'finished') return isFinal(status);
  return wanted === undefined || status === wanted;
}
