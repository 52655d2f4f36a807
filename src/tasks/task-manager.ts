import { writeFile } from 'node:fs/promises';
import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { Emitter } from '../base/event.js';
import { createTaskId, TASK_ID_PATTERN } from '../base/ids.js';
import { writeJsonFileAtomically } from '../base/json-file.js';
import { DisposableStore, toDisposable, type Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import { headBytes, oneLine } from '../base/text.js';
import type { Installation } from '../claude/installation.js';
import type { AllowedPath } from '../projects/allowed-roots.js';
import { readJournal } from '../store/journal-reader.js';
import { processState } from '../store/process-identity.js';
import type { StateDir } from '../store/state-dir.js';
import { checkPrompt } from './prompt.js';
import { readRecordFile, type RecordFile } from './record-file.js';
import { recoverTask } from './recovery.js';
import { isFinal, type TaskPurpose, type TaskRecord, type TaskStatus } from './task.js';
import type { DecisionAnswer, TaskHost, TaskLink } from './task-host.js';
import { readLogPage, type OutputPage } from './task-output.js';
import type { StartTask } from './task-service.js';
import type { TaskSpec } from './task-spec.js';
import { TaskWatch } from './task-watch.js';
import { WaitCursor } from './wait-cursor.js';

/** A progress word while a caller waits: often enough to show life, seldom enough to cost nothing. */
const PROGRESS_INTERVAL_MS = 5_000;
const OWNER_ONLY = 0o600;
/** What `watch` is given for all active tasks. */
const WATCH_ACTIVE = 'active';

export interface TaskManagerOptions {
  readonly stateDir: StateDir;
  readonly host: TaskHost;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly roots: { resolveDirectory(input: string): Promise<AllowedPath> };
  readonly findInstallation: () => Promise<Installation>;
  /** Ends every process that carries a dead keeper's mark; resolves with how many there were. */
  readonly endMarked: (mark: string) => Promise<number>;
  readonly settings: Omit<TaskSpec['settings'], 'claude_command'> & {
    readonly default_timeout_seconds: number;
    readonly task_history_size: number;
    readonly conversation_history_size: number;
  };
}

/**
 * The tasks of this user, whoever started them: it starts, finds, follows, answers and ends them. It holds no task
 * state of its own: records on disk and the keepers' sockets are the truth, and other servers see the same.
 */
export class TaskManager implements Disposable {
  readonly #options: TaskManagerOptions;
  readonly #owned = new DisposableStore();
  readonly #changes = this.#owned.add(new Emitter<string>());
  /** A task id, whenever its record or log changed; only for tasks that somebody watches. */
  readonly onDidChange = this.#changes.event;
  readonly #watches = new Map<string, { count: number; readonly watch: TaskWatch }>();

  constructor(options: TaskManagerOptions) {
    this.#options = options;
  }

  /**
   * Starts a task. Throws PATH_NOT_ALLOWED, PATH_NOT_FOUND, NOT_A_DIRECTORY, INVALID_PROMPT, CLAUDE_NOT_FOUND,
   * CLAUDE_NOT_EXECUTABLE, TASK_ALREADY_RUNNING, NOT_WRITABLE or TASK_START_FAILED; nothing is left behind then.
   */
  async start(input: StartTask): Promise<TaskRecord> {
    const { stateDir, host, clock, roots, settings, findInstallation } = this.#options;
    checkPrompt(input.prompt);
    checkModel(input.model);
    const projectPath = await roots.resolveDirectory(input.path);
    const installation = await findInstallation();
    const {
      default_timeout_seconds,
      task_history_size: _tasks,
      conversation_history_size: _questions,
      ...taskSettings
    } = settings;
    const spec: TaskSpec = {
      task_id: createTaskId(),
      project_path: projectPath,
      permission_mode: input.permissionMode ?? 'auto',
      driver: input.driver ?? 'interactive',
      model: input.model ?? null,
      keep_open: input.keepOpen ?? false,
      purpose: input.purpose ?? 'task',
      skip_permissions: input.skipPermissions ?? false,
      resume: input.resume ?? null,
      timeout_seconds: input.timeoutSeconds ?? default_timeout_seconds,
      created_at: new Date(clock.now()).toISOString(),
      settings: { ...taskSettings, claude_command: [...installation.command] },
    };
    await stateDir.createTaskDir(spec.task_id);
    try {
      await writeFile(stateDir.promptFile(spec.task_id), input.prompt, { mode: OWNER_ONLY, flag: 'wx' });
      await writeJsonFileAtomically(stateDir.specFile(spec.task_id), spec, { durable: false });
      const record = await host.launch(spec);
      void this.#prune().catch((fault: unknown) =>
        this.#options.logger.warn('old tasks could not be pruned', { fault: messageOf(fault) }),
      );
      return record;
    } catch (fault) {
      // A keeper that died while it started may have left an agent; its record is the only trace of it.
      const record = await this.#read(spec.task_id);
      if (record !== undefined) await this.#options.endMarked(record.process_mark);
      await stateDir.removeTaskDir(spec.task_id);
      throw fault;
    }
  }

  /** Throws TASK_NOT_FOUND. A task whose keeper is gone is given its truthful end first. */
  async get(taskId: string): Promise<TaskRecord> {
    const record = await this.#read(taskId);
    if (record === undefined) throw notFound(taskId);
    return this.#current(record);
  }

  /** Newest first. `cursor` is the id of the last task of the page before. */
  async list(query: {
    readonly status?: 'active' | 'finished' | TaskStatus;
    readonly path?: string;
    readonly purpose?: TaskPurpose;
    readonly limit: number;
    readonly cursor?: string;
  }): Promise<{ tasks: TaskRecord[]; nextCursor?: string; unreadable: UnreadableTask[] }> {
    const path =
      query.path === undefined ? undefined : await this.#options.roots.resolveDirectory(query.path);
    const ids = await this.#options.stateDir.listTaskIds();
    const from = query.cursor === undefined ? 0 : ids.indexOf(query.cursor) + 1;
    if (query.cursor !== undefined && from === 0) {
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        `'${oneLine(query.cursor, 40)}' is no cursor of list_tasks, or its task is no longer kept.`,
        'Begin again without a cursor.',
      );
    }
    const tasks: TaskRecord[] = [];
    const unreadable: UnreadableTask[] = [];
    for (const id of ids.slice(from)) {
      const file = await this.#readFile(id);
      if (file.state === 'newer' || file.state === 'corrupt') unreadable.push({ task_id: id, why: file.why });
      if (file.state !== 'ok') continue;
      const current = await this.#current(file.record);
      if (path !== undefined && current.project_path !== path) continue;
      if (!hasStatus(current.status, query.status)) continue;
      if (purposeOf(current) !== (query.purpose ?? 'task')) continue;
      if (tasks.length === query.limit) {
        const last = tasks.at(-1);
        return { tasks, unreadable, ...(last === undefined ? {} : { nextCursor: last.task_id }) };
      }
      tasks.push(current);
    }
    return { tasks, unreadable };
  }

  /** Answers with every task's record at the first change since `cursor`, or when the time is over. */
  async wait(query: {
    readonly taskIds: readonly string[];
    readonly timeoutMs: number;
    readonly cursor?: string;
    readonly signal: AbortSignal;
    readonly onProgress?: (text: string) => void;
  }): Promise<{ tasks: TaskRecord[]; changed: string[]; cursor: string }> {
    const cursor = WaitCursor.parse(query.cursor);
    const watches = new DisposableStore();
    try {
      return await new Promise((resolve, reject) => {
        const look = async (isLast: boolean): Promise<void> => {
          const tasks = await Promise.all(query.taskIds.map((id) => this.get(id)));
          const changed = cursor.changed(tasks);
          if (changed.length === 0 && !isLast) return;
          resolve({ tasks, changed, cursor: WaitCursor.of(tasks) });
        };
        // One look at a time; a change during a look asks for another.
        let looking: Promise<void> = Promise.resolve();
        const lookNext = (isLast: boolean): void => {
          looking = looking.then(() => look(isLast)).catch(reject);
        };
        for (const id of query.taskIds) watches.add(this.watch(id));
        watches.add(this.onDidChange((id) => (query.taskIds.includes(id) ? lookNext(false) : undefined)));
        watches.add(this.#options.clock.after(query.timeoutMs, () => lookNext(true)));
        if (query.onProgress !== undefined) watches.add(this.#tellProgress(query.taskIds, query.onProgress));
        const abort = (): void => lookNext(true);
        query.signal.addEventListener('abort', abort, { once: true });
        watches.add(toDisposable(() => query.signal.removeEventListener('abort', abort)));
        lookNext(query.signal.aborted);
      });
    } finally {
      watches.dispose();
    }
  }

  /** Resolves with the final record. Throws TASK_NOT_FOUND or TASK_NOT_RUNNING. */
  async kill(taskId: string, reason: string): Promise<TaskRecord> {
    return this.#withLink(taskId, (link) => link.kill(reason));
  }

  /** Throws TASK_NOT_FOUND, TASK_NOT_RUNNING, DECISION_NOT_FOUND, DECISION_CLOSED or INVALID_ARGUMENTS. */
  async respond(taskId: string, answer: DecisionAnswer): Promise<TaskRecord> {
    return this.#withLink(taskId, (link) => link.respond(answer));
  }

  /** Throws TASK_NOT_FOUND, TASK_NOT_RUNNING or INVALID_PROMPT. */
  async message(
    taskId: string,
    message: { readonly text?: string; readonly interrupt?: boolean },
  ): Promise<TaskRecord> {
    if (message.text !== undefined) checkPrompt(message.text);
    else if (message.interrupt !== true) {
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        'Neither text nor interrupt was given.',
        'Give text to send, or interrupt: true, or both.',
      );
    }
    return this.#withLink(taskId, (link) => link.message(message));
  }

  /** One page of what the task wrote, at most `maxBytes` long. Throws TASK_NOT_FOUND. */
  async output(query: {
    readonly taskId: string;
    readonly view: 'log' | 'screen' | 'events';
    readonly cursor?: string;
    readonly maxBytes: number;
  }): Promise<OutputPage> {
    const record = await this.get(query.taskId);
    switch (query.view) {
      case 'log':
        return readLogPage(record.log_file, query.cursor, query.maxBytes);
      case 'events':
        return this.#events(query.taskId, query.cursor, query.maxBytes);
      case 'screen': {
        const text = headBytes(await this.#screen(record), query.maxBytes);
        return { text, cursor: '', more: false, totalBytes: Buffer.byteLength(text) };
      }
    }
  }

  /** Ids that begin with `prefix`, newest first. */
  async taskIds(prefix: string): Promise<string[]> {
    return (await this.#options.stateDir.listTaskIds()).filter((id) => id.startsWith(prefix));
  }

  /** Keeps `onDidChange` firing for a task, or for all active ones, until disposed. */
  watch(taskId: string): Disposable {
    const held = this.#watches.get(taskId) ?? { count: 0, watch: this.#createWatch(taskId) };
    held.count++;
    this.#watches.set(taskId, held);
    return toDisposable(() => {
      held.count--;
      if (held.count > 0) return;
      this.#watches.delete(taskId);
      held.watch.dispose();
    });
  }

  dispose(): void {
    for (const { watch } of this.#watches.values()) watch.dispose();
    this.#watches.clear();
    this.#owned.dispose();
  }

  #createWatch(taskId: string): TaskWatch {
    const { host, stateDir, clock } = this.#options;
    return new TaskWatch({
      host,
      clock,
      isOne: taskId !== WATCH_ACTIVE,
      records: async () => {
        const ids = taskId === WATCH_ACTIVE ? await stateDir.listTaskIds() : [taskId];
        const records = await Promise.all(ids.map((id) => this.#read(id)));
        return records.filter((record) => record !== undefined).filter((record) => !isFinal(record.status));
      },
      onChange: (id) => this.#changes.fire(id),
    });
  }

  #tellProgress(taskIds: readonly string[], tell: (text: string) => void): Disposable {
    let timer: Disposable;
    const arm = (): void => {
      timer = this.#options.clock.after(PROGRESS_INTERVAL_MS, () => {
        void Promise.all(taskIds.map((id) => this.get(id))).then(
          (tasks) =>
            tell(
              tasks
                .map((task) => `${task.task_id}: ${task.status}, ${task.elapsed_seconds} s, ${task.activity}`)
                .join('\n'),
            ),
          // A task that vanished is told by the wait itself.
          () => undefined,
        );
        arm();
      });
    };
    arm();
    return toDisposable(() => timer.dispose());
  }

  async #withLink<T>(taskId: string, act: (link: TaskLink) => Promise<T>): Promise<T> {
    const record = await this.get(taskId);
    if (isFinal(record.status)) throw notRunning(record);
    const link = await this.#options.host.connect(record);
    if (link === undefined) throw notRunning(await this.get(taskId));
    try {
      return await act(link);
    } finally {
      link.dispose();
    }
  }

  async #screen(record: TaskRecord): Promise<string> {
    if (isFinal(record.status)) return record.last_output;
    const link = await this.#options.host.connect(record);
    if (link === undefined) return record.last_output;
    try {
      return (await link.screen()).text;
    } finally {
      link.dispose();
    }
  }

  async #events(taskId: string, cursor: string | undefined, maxBytes: number): Promise<OutputPage> {
    const afterSeq = cursor === undefined ? 0 : Number(cursor);
    if (!Number.isSafeInteger(afterSeq) || afterSeq < 0) {
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        `'${oneLine(cursor ?? '', 40)}' is no cursor of the events view.`,
        'Use the cursor of the last answer, or none.',
      );
    }
    const page = await readJournal(this.#options.stateDir.journalFile(taskId), { afterSeq, maxBytes });
    const text = page.entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    return { text, cursor: String(page.nextSeq), more: page.more, totalBytes: Buffer.byteLength(text) };
  }

  /** The record on disk; undefined when there is no such task or its record cannot be read. */
  async #read(taskId: string): Promise<TaskRecord | undefined> {
    const file = await this.#readFile(taskId);
    return file.state === 'ok' ? file.record : undefined;
  }

  async #readFile(taskId: string): Promise<RecordFile> {
    if (!TASK_ID_PATTERN.test(taskId)) return { state: 'missing' };
    const { stateDir, clock, logger } = this.#options;
    return readRecordFile(stateDir, taskId, { now: () => clock.now(), logger });
  }

  /** As the record would be if it were written now: elapsed time, and an end for a task whose keeper is gone. */
  async #current(record: TaskRecord): Promise<TaskRecord> {
    if (isFinal(record.status)) return record;
    // Only a keeper that is provably gone leaves its task to us.
    if (record.keeper !== null && (await processState(record.keeper)) !== 'gone') {
      return { ...record, elapsed_seconds: elapsedSeconds(record, this.#options.clock) };
    }
    // The record was read before its keeper was found gone: what the keeper wrote last is the truth, and now it stays.
    const last = (await this.#read(record.task_id)) ?? record;
    return isFinal(last.status) ? last : recoverTask(last, this.#options);
  }

  /** Keeps the newest finished tasks and, counted apart, the newest questions. */
  async #prune(): Promise<void> {
    const { stateDir, settings } = this.#options;
    const kept = { task: settings.task_history_size, ask: settings.conversation_history_size };
    for (const id of await stateDir.listTaskIds()) {
      const record = await this.#read(id);
      if (record === undefined || !isFinal(record.status)) continue;
      const purpose = purposeOf(record);
      kept[purpose]--;
      if (kept[purpose] < 0) await stateDir.removeTaskDir(id);
    }
  }
}

/** A task whose record is there and cannot be read, and why in a sentence. */
export interface UnreadableTask {
  readonly task_id: string;
  readonly why: string;
}

/** Never less than what the keeper last wrote, and not by the wall clock, which may be set. */
function elapsedSeconds({ started_monotonic_ms, elapsed_seconds }: TaskRecord, clock: Clock): number {
  if (started_monotonic_ms === null) return elapsed_seconds;
  return Math.max(elapsed_seconds, Math.floor((clock.monotonicMs() - started_monotonic_ms) / 1000));
}

/** Aliases and ids such as `opus`, `claude-opus-4-1[1m]` or an ARN; nothing that could be read as an option. */
const modelPattern = /^[A-Za-z0-9][A-Za-z0-9._:/@[\]-]{0,199}$/;

function checkModel(model: string | undefined): void {
  if (model === undefined || modelPattern.test(model)) return;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `'${oneLine(model, 80)}' is no name of a model.`,
    'Give an alias such as "opus" or "sonnet" or a model id, or leave model out.',
  );
}

function purposeOf(record: TaskRecord): TaskPurpose {
  return record.purpose ?? 'task';
}

function hasStatus(status: TaskStatus, wanted: 'active' | 'finished' | TaskStatus | undefined): boolean {
  if (wanted === undefined) return true;
  if (wanted === 'active') return !isFinal(status);
  if (wanted === 'finished') return isFinal(status);
  return status === wanted;
}

function notFound(taskId: string): BridgeError {
  return new BridgeError(
    'TASK_NOT_FOUND',
    `Task not found: ${oneLine(taskId, 80)}.`,
    'Task ids come from start_task; list_tasks names the tasks that are known.',
  );
}

function notRunning(record: TaskRecord): BridgeError {
  return new BridgeError(
    'TASK_NOT_RUNNING',
    `Task ${record.task_id} is not running: it is ${record.status} (${record.reason}).`,
    'Nothing was changed. Start a new task with start_task.',
  );
}
