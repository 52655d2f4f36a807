import type { Clock } from '../base/clock.js';
import { invalidCursor } from '../base/input.js';
import { BridgeError } from '../base/errors.js';
import { TASK_ID_PATTERN } from '../base/ids.js';
import type { Logger } from '../base/logger.js';
import { headBytes, oneLine } from '../base/text.js';
import type { EndMarked } from '../os/choose-processes.js';
import type { AllowedPath } from '../projects/allowed-roots.js';
import { readJournal } from '../store/journal-reader.js';
import { ownerState } from '../store/owner-state.js';
import { ownIdentity, type ProcessState } from '../store/process-identity.js';
import type { ProcessIdentity } from '../store/process-place.js';
import type { StateDir } from '../store/state-dir.js';
import type { Standing } from './queue/queue-order.js';
import { asQueued } from './queue/queue-folder.js';
import {
  liveRecord,
  readRecordFile,
  recordOf,
  recordOfKeeper,
  type RecordFile,
} from './record/record-file.js';
import { endUnreadable, recoverTask } from './record/recovery.js';
import { isFinal, isNative, type TaskPurpose, type TaskRecord, type TaskStatus } from './task.js';
import type { TaskHost, TaskLink } from './task-host.js';
import { LOG_IS_GONE, readLogPage, type TextPage } from './task-output.js';
import { TaskUnreachable } from './unreachable.js';
import type { OutputPage, OutputQuery, TaskPage, TaskQuery, UnreadableTask } from './task-service.js';

/** A list waits so long for each task that another server is giving its end. */
const LIST_WAIT_MS = 2_000;
const SHOWN_CURSOR_CHARS = 60;

export interface TaskReaderOptions {
  readonly stateDir: StateDir;
  readonly host: TaskHost;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly roots: { resolveDirectory(input: string): Promise<AllowedPath> };
  readonly endMarked: EndMarked;
  readonly onRecovered?: (record: TaskRecord) => void;
  /** The current position of each queued task. */
  readonly standings: () => Promise<ReadonlyMap<string, Standing>>;
  /** Who keeps a task, by its project's lock; undefined for one whose keeper is gone, and for one without a lock. */
  readonly ownerOf: (taskId: string) => Promise<ProcessIdentity | undefined>;
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

  /** Every record that can be read now, as it is on disk. */
  async all(): Promise<readonly TaskRecord[]> {
    const stored = await this.#stored();
    return stored.flatMap(({ file }) => (file.state === 'ok' ? file.record : []));
  }

  /** Throws TASK_NOT_FOUND, and STATE_UNUSABLE for a record that cannot be read. A task whose keeper is gone is given its truthful end first. */
  async get(taskId: string): Promise<TaskRecord> {
    const file = await this.#readFile(taskId);
    if (file.state === 'corrupt') return this.#unreadable(taskId, file.why);
    if (file.state !== 'ok') throw notFound(taskId);
    return this.#live(await this.#current(file.record));
  }

  /** Newest first. Throws INVALID_ARGUMENTS for an invalid cursor, and as `resolveDirectory` for the path. */
  async list(query: TaskQuery): Promise<TaskPage> {
    const path =
      query.path === undefined ? undefined : await this.#options.roots.resolveDirectory(query.path);
    // By their time: no task changes its place between two pages.
    const stored = new Map((await this.#stored()).sort(newestFirst).map((one) => [one.id, one.file]));
    const ids = [...stored.keys()];
    const from = query.cursor === undefined ? 0 : ids.indexOf(query.cursor) + 1;
    if (query.cursor !== undefined && from === 0) throw invalidCursor();
    const tasks: TaskRecord[] = [];
    const unreadable: UnreadableTask[] = [];
    // The queue is read once for the whole page.
    let looked: Promise<ReadonlyMap<string, Standing>> | undefined;
    const standings = () => (looked ??= this.#options.standings());
    for (const id of ids.slice(from)) {
      const current = await this.#listed(id, stored.get(id), standings, unreadable);
      if (current === undefined || !isWanted(current, query, path)) continue;
      if (tasks.length === query.limit) {
        const last = tasks.at(-1);
        const live = await Promise.all(tasks.map((task) => this.#live(task)));
        return { tasks: live, unreadable, ...(last === undefined ? {} : { cursor: last.task_id }) };
      }
      tasks.push(current);
    }
    return { tasks: await Promise.all(tasks.map((task) => this.#live(task))), unreadable };
  }

  /** One page of what the task wrote, at most `maxBytes` long. Throws TASK_NOT_FOUND, NOT_READABLE. */
  async output(query: OutputQuery): Promise<OutputPage> {
    const task = await this.get(query.taskId);
    return { task, ...(await this.#page(task, query)) };
  }

  async #page(task: TaskRecord, { view, cursor, maxBytes }: OutputQuery): Promise<TextPage> {
    switch (view) {
      case 'log':
        return logPage(task, cursor, maxBytes);
      case 'events':
        return this.#events(task.task_id, cursor, maxBytes);
      case 'screen': {
        // Its answer holds an empty cursor, which may come back.
        if (cursor !== undefined && cursor !== '') throw noPages(cursor);
        const text = headBytes(await this.#screen(task), maxBytes);
        return { text, cursor: '', more: false, totalBytes: Buffer.byteLength(text) };
      }
    }
  }

  /** Ids that begin with `prefix`, newest first. */
  async taskIds(prefix: string): Promise<string[]> {
    return (await this.#options.stateDir.listTaskIds()).filter((id) => id.startsWith(prefix));
  }

  async #screen(record: TaskRecord): Promise<string> {
    if (isFinal(record.status) || record.keeper === null) return record.last_output;
    let link: TaskLink | undefined;
    try {
      link = await this.#options.host.connect(record);
      // No keeper: the task ended just now, and left its last screen.
      return link === undefined ? (await this.get(record.task_id)).last_output : (await link.screen()).text;
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      const left = await this.get(record.task_id);
      // It ended while it was asked, and left its last screen.
      if (isFinal(left.status)) return left.last_output;
      throw error;
    } finally {
      link?.dispose();
    }
  }

  async #events(taskId: string, cursor: string | undefined, maxBytes: number): Promise<TextPage> {
    const afterSeq = cursor === undefined ? 0 : Number(cursor);
    if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) throw invalidCursor();
    const page = await readJournal(this.#options.stateDir.journalFile(taskId), { afterSeq, maxBytes });
    const text = page.entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    return { text, cursor: String(page.nextSeq), more: page.more, totalBytes: Buffer.byteLength(text) };
  }

  /** One whose file the system does not let be read is named, and does not hide the others. */
  async #readListed(taskId: string): Promise<ListedFile> {
    try {
      return await this.#readFile(taskId);
    } catch (error) {
      return { state: 'refused', why: unreadableWhy(error) };
    }
  }

  async #readFile(taskId: string): Promise<RecordFile> {
    if (!TASK_ID_PATTERN.test(taskId)) return { state: 'missing' };
    return readRecordFile(this.#options.stateDir, taskId);
  }

  /** Of a record that cannot be read: as its living keeper has it, else the end that says so. Throws TASK_UNREACHABLE, and as `endUnreadable`. */
  async #unreadable(taskId: string, why: string): Promise<TaskRecord> {
    const record = await recordOfKeeper({ task_id: taskId }, this.#options);
    if (record !== undefined) return record;
    const owner = await this.#options.ownerOf(taskId);
    if (owner === undefined) return endUnreadable(taskId, why, this.#options);
    throw new TaskUnreachable(
      taskId,
      `it runs, but its keeper, process ${owner.pid}, does not answer. ${why.replace(/\.$/, '')}`,
      {
        hint: `End process ${owner.pid} by hand if it is one of yours; then the task gets its end when its status is read.`,
      },
    );
  }

  /** What a running task shows is known to its keeper alone. */
  #live(record: TaskRecord): Promise<TaskRecord> {
    if (isFinal(record.status) || record.keeper === null) return Promise.resolve(record);
    return liveRecord(record, this.#options);
  }

  /** Undefined for one that cannot be read, which is named then, and does not hide the others. */
  async #listed(
    id: string,
    file: ListedFile = { state: 'missing' },
    standings: () => Promise<ReadonlyMap<string, Standing>>,
    unreadable: UnreadableTask[],
  ): Promise<TaskRecord | undefined> {
    if (file.state === 'refused') unreadable.push({ task_id: id, why: file.why });
    if (file.state !== 'ok' && file.state !== 'corrupt') return undefined;
    try {
      if (file.state === 'corrupt') return await this.#unreadable(id, file.why);
      return await this.#current(file.record, standings, LIST_WAIT_MS);
    } catch (error) {
      // Its keeper does not answer, or another server is still giving it its end.
      unreadable.push({ task_id: id, why: unreadableWhy(error) });
      return undefined;
    }
  }

  /** The records of all tasks on disk. */
  async #stored(): Promise<StoredRecord[]> {
    const ids = await this.#options.stateDir.listTaskIds();
    return Promise.all(ids.map(async (id) => ({ id, file: await this.#readListed(id) })));
  }

  #keeperState(keeper: ProcessIdentity): Promise<ProcessState> {
    return ownerState(keeper, this.#options.stateDir.path);
  }

  /** As the record would be if it were written now: elapsed time, place in the queue, an end if its keeper is gone. */
  async #current(
    record: TaskRecord,
    standings: () => Promise<ReadonlyMap<string, Standing>> = this.#options.standings,
    waitMs?: number,
  ): Promise<TaskRecord> {
    if (isFinal(record.status)) return record;
    if (record.keeper === null) {
      const standing = (await standings()).get(record.task_id);
      if (standing !== undefined) return asQueued(record, standing);
    } else if ((await this.#keeperState(record.keeper)) !== 'gone') {
      // Only a keeper that is provably gone leaves its task to us.
      return { ...record, elapsed_seconds: await elapsedSeconds(record, this.#options.clock) };
    }
    // The record was read before its keeper was found gone, or its ticket missing: what was written last is the truth.
    const last = (await this.read(record.task_id)) ?? record;
    if (isFinal(last.status)) return last;
    if (record.keeper === null && last.keeper !== null) return this.#current(last, standings, waitMs);
    return recoverTask(last, this.#options, waitMs === undefined ? {} : { waitMs });
  }
}

/** `refused`: the system does not let it be read now. */
type ListedFile = RecordFile | { readonly state: 'refused'; readonly why: string };

interface StoredRecord {
  readonly id: string;
  readonly file: ListedFile;
}

/** By the times of the records; one that cannot be read comes last. */
function newestFirst(one: StoredRecord, other: StoredRecord): number {
  const [a, b] = [one, other].map(({ file }) => (file.state === 'ok' ? file.record.created_at : ''));
  return (b ?? '').localeCompare(a ?? '') || other.id.localeCompare(one.id);
}

/** What a list says of a task that cannot be read. Rethrows what is not about its files. */
function unreadableWhy(error: unknown): string {
  if (!(
    error instanceof TaskUnreachable ||
    (error instanceof BridgeError && error.code === 'STATE_UNUSABLE')
  ))
    throw error;
  return error.message;
}

function noPages(cursor: string): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    `The view screen was to be read from cursor ${oneLine(JSON.stringify(cursor), SHOWN_CURSOR_CHARS)}, but it has no pages: it is the terminal as it is now.`,
    'Omit cursor, or use the view log.',
  );
}

export function purposeOf(record: TaskRecord): TaskPurpose {
  return record.purpose ?? 'task';
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

function isWanted(record: TaskRecord, query: TaskQuery, path: string | undefined): boolean {
  if (path !== undefined && path !== (record.worktree?.project_path ?? record.project_path)) return false;
  if (!hasStatus(record.status, query.status)) return false;
  if (purposeOf(record) !== (query.purpose ?? 'task')) return false;
  if (query.native === true && !isNative(record)) return false;
  return query.delegated !== true || record.delegated === true;
}

function hasStatus(status: TaskStatus, wanted: 'active' | 'finished' | TaskStatus | undefined): boolean {
  if (wanted === undefined) return true;
  if (wanted === 'active') return !isFinal(status);
  if (wanted === 'finished') return isFinal(status);
  return status === wanted;
}

function notFound(taskId: string): BridgeError {
  return new BridgeError('TASK_NOT_FOUND', `Task not found: ${oneLine(taskId, 80)}.`, [{ do: 'list' }]);
}

async function logPage(task: TaskRecord, cursor: string | undefined, maxBytes: number): Promise<TextPage> {
  const page = await readLogPage(task.log_file, cursor, maxBytes);
  // A task that never began has no log.
  return page.isMissing === true && task.started_at !== null ? { ...page, text: LOG_IS_GONE } : page;
}
