import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { modeFor, modesIn, type ModeSettings } from '../../approvals/modes.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../../base/files/json-file.js';
import { makeFolders } from '../../base/files/folders.js';
import { createSecret, TASK_ID_PATTERN } from '../../base/ids.js';
import type { Disposable } from '../../base/lifecycle.js';
import { AllowedRoots } from '../../projects/allowed-roots.js';
import { ownerState } from '../../store/owner-state.js';
import type { Lock, LockHolder, LockTable, ProjectLocks } from '../../store/project-lock.js';
import { projectFilePaths } from '../project-folder.js';
import { initialRecord } from '../record/initial-record.js';
import { readRecordFile, recordOf, writeRecordFile } from '../record/record-file.js';
import { endUnreadable, recoverTask, type RecoveryParts } from '../record/recovery.js';
import { isFinal, openDecisions, type TaskRecord } from '../task.js';
import type { TaskHost } from '../task-host.js';
import { taskSpecSchema, type TaskSpec } from '../task-spec.js';
import { asQueued, projectBusy, standings, type Standing } from './queue-order.js';

/** A keeper that ends starts what comes next; this is for those that were killed. */
const LOOK_INTERVAL_MS = 5_000;
const OWNER_ONLY = 0o700;
/** Ends the name of a ticket. */
const TICKET = '.json';
/** What `writeJsonFileAtomically` leaves when its process is killed. */
const UNFINISHED = /^\..*\.tmp$/;

export interface TaskQueueOptions extends RecoveryParts {
  readonly locks: ProjectLocks;
  readonly host: TaskHost;
  /** Which modes the settings allow now, for a task that waited. Throws CONFIG_ERROR: then it waits on. */
  readonly modesNow?: ((spec: TaskSpec) => Promise<ModeSettings>) | undefined;
  /** True for a process that stays: it checks repeatedly while tasks wait. */
  readonly staysOn: boolean;
}

/**
 * The tasks that wait for their project or for their turn, over all servers of the user. It lives on disk: every server and
 * every keeper that ends starts what can start, so that the queue goes on also when no server runs.
 *
 * A task waits while its record is pending, without a keeper; its spec and prompt lie beside it, and any process of the user may start it.
 * A **ticket** `queue/<task_id>.json` is the name of one that may wait, so that no other records are read.
 */
export class TaskQueue implements Disposable {
  readonly #options: TaskQueueOptions;
  #isDisposed = false;
  #timer: Disposable | undefined;

  constructor(options: TaskQueueOptions) {
    this.#options = options;
  }

  /**
   * Gives a new task, whose spec and prompt are on disk, its project, which is reserved then, or its place behind the others; `limit`
   * tasks of the user run at once. Throws TASK_ALREADY_RUNNING where another one has the project, without `waits`, and STATE_UNUSABLE.
   */
  async enter(
    spec: TaskSpec,
    prompt: string,
    { limit, waits }: { readonly limit: number; readonly waits: boolean },
  ): Promise<Lock | TaskRecord> {
    const { stateDir, clock } = this.#options;
    const { task_id: taskId, project_path: projectPath } = spec;
    const record: TaskRecord = {
      ...initialRecord({
        spec,
        prompt,
        owner: null,
        // No process carries it: the keeper makes its own.
        mark: createSecret(),
        socketPath: '',
        files: projectFilePaths(spec.worktree?.project_path ?? projectPath, taskId),
      }),
      reason: 'Queued.',
      queue_limit: limit,
    };
    const entry = await this.#exclusively(async (table) => {
      const own = standings([...(await this.#waiting(true)), record], table.held).get(taskId);
      if (own?.state !== 'waits') return table.reserve({ projectPath, taskId });
      if ('holder' in own && !waits) {
        const holder = recordOf(await readRecordFile(stateDir, own.holder.task_id));
        throw projectBusy(projectPath, own.holder, clock.now(), holder && openDecisions(holder));
      }
      await makeFolders(stateDir.queueDir, OWNER_ONLY);
      await writeJsonFileAtomically(stateDir.ticketFile(taskId), { task_id: taskId });
      // Last: a process that finds it finds the ticket, too.
      await writeRecordFile(stateDir, record);
      return asQueued(record, own);
    });
    if (!('release' in entry)) this.#lookLater();
    return entry;
  }

  /**
   * Starts every queued task that can start; resolves when they run. A task that cannot be started ends as `error` and makes
   * room for the next. Throws STATE_UNUSABLE; the queue stays as it is then.
   */
  async advance(): Promise<void> {
    // A process that adds a ticket advances the queue itself: without one there is nothing to do.
    if ((await this.#options.stateDir.ticketNames()).length === 0) return;
    const begun = await this.#exclusively((table) => this.#takeNext(table));
    await Promise.all(
      begun.map(async ({ record, reservation }) => {
        if ((await this.#begin(record, reservation)) && !this.#isDisposed) await this.advance();
      }),
    );
  }

  /** Ends a task that still waits; undefined for one that does not, or is being started. */
  cancel(taskId: string, reason: string): Promise<TaskRecord | undefined> {
    return this.#endWaiting(taskId, { status: 'killed', reason });
  }

  /** The current position of each queued task, by its id. */
  async look(): Promise<ReadonlyMap<string, Standing>> {
    const waiting = await this.#waiting();
    if (waiting.length === 0) return new Map();
    this.#lookLater();
    return standings(waiting, (await this.#options.locks.table()).held);
  }

  dispose(): void {
    this.#timer?.dispose();
    this.#isDisposed = true;
  }

  /**
   * The records of the tasks that wait, in the order in which they came. `isExclusive`: in a critical section, where no other process
   * writes one. Then tickets go of tasks that do not wait any more, and what a killed writer left.
   */
  async #waiting(isExclusive = false): Promise<TaskRecord[]> {
    const { stateDir } = this.#options;
    const waiting: TaskRecord[] = [];
    for (const name of (await stateDir.ticketNames()).sort()) {
      const taskId = name.slice(0, -TICKET.length);
      const isTicket = name.endsWith(TICKET) && TASK_ID_PATTERN.test(taskId);
      const file = isTicket ? await readRecordFile(stateDir, taskId) : undefined;
      if (file?.state === 'ok' && isWaiting(file.record)) waiting.push(file.record);
      else if (isExclusive && (isTicket || UNFINISHED.test(name))) {
        await rm(join(stateDir.queueDir, name), { force: true });
        // Its server died before it wrote the record, and so before it answered.
        if (file?.state === 'missing') await stateDir.removeTaskDir(taskId);
      }
    }
    return waiting;
  }

  /** Reserves the projects of the tasks that come next. No other process does so meanwhile. */
  async #takeNext(table: LockTable): Promise<{ record: TaskRecord; reservation: Lock }[]> {
    const waiting = await this.#waiting(true);
    const standing = standings(waiting, table.held);
    const begun = [];
    for (const record of waiting) {
      const { task_id: taskId, project_path: projectPath } = record;
      if (standing.get(taskId)?.state !== 'next') continue;
      try {
        begun.push({ record, reservation: await table.reserve({ projectPath, taskId }) });
      } catch (error) {
        // The disk or the lock does not let it: it waits for the next check, and the others start.
        if (!(error instanceof BridgeError)) throw error;
        this.#warn('the project of a queued task could not be reserved', error, taskId);
      }
    }
    if (waiting.length > begun.length) this.#lookLater();
    return begun;
  }

  /** True for a task that could not be started and has its end: another one may come next. */
  async #begin({ task_id: taskId }: TaskRecord, reservation: Lock): Promise<boolean> {
    const { host, stateDir } = this.#options;
    try {
      await host.launch(await this.#checkedSpec(taskId), reservation);
      await rm(stateDir.ticketFile(taskId), { force: true });
      return false;
    } catch (error) {
      const ended = await this.#failed(taskId, error, reservation).catch((second: unknown) =>
        this.#warn('a queued task that could not be started stays in the queue', second, taskId),
      );
      // A keeper that has it may only be late; one that died has left its lock.
      if (ended === undefined) this.#lookLater();
      return ended !== undefined;
    } finally {
      // Nothing, once the task's keeper has it.
      reservation.release();
    }
  }

  /** The spec of a task that may still start where it was to start, in its mode. */
  async #checkedSpec(taskId: string): Promise<TaskSpec> {
    const { stateDir, modesNow } = this.#options;
    const file = await readJsonFile(stateDir.specFile(taskId), taskSpecSchema);
    if (file.state !== 'ok') {
      const hint = 'Start it again.';
      throw new BridgeError('TASK_START_FAILED', `Its spec is ${file.state}.`, hint);
    }
    const spec = file.value;
    const { project_path: asked, settings } = spec;
    const path = await AllowedRoots.ofReal(settings.allowed_roots ?? [asked], '/').resolveDirectory(asked);
    if (path !== asked) {
      throw new BridgeError(
        'PATH_NOT_ALLOWED',
        `The project ${asked} is a link by now, to ${path}.`,
        'Start the task again with the path that is meant.',
      );
    }
    const modes = await modesNow?.(spec);
    if (modes !== undefined) modeFor(spec.permission_mode, path, modesIn(path, modes));
    return spec;
  }

  async #failed(taskId: string, error: unknown, own: Lock): Promise<TaskRecord | undefined> {
    const isBridgeError = error instanceof BridgeError;
    // Settings that cannot be read are corrected soon.
    if (isBridgeError && error.code === 'CONFIG_ERROR') return undefined;
    const reason = `The queued task could not be started: ${messageOf(error)}${isBridgeError ? ` ${error.hint}` : ''}`;
    return this.#endWaiting(taskId, { status: 'error', reason }, own.holder);
  }

  /**
   * Ends a task that waits and has no keeper. Undefined for any other task, and for one whose project a keeper or a server has for it,
   * unless by `own`, the reservation of this process.
   */
  #endWaiting(
    taskId: string,
    ending: Pick<TaskRecord, 'status' | 'reason'>,
    own?: LockHolder,
  ): Promise<TaskRecord | undefined> {
    const { locks, stateDir, clock } = this.#options;
    return locks.exclusively(async ({ held }) => {
      const lock = held.find(({ task_id }) => task_id === taskId);
      if (lock !== undefined && !isDeepStrictEqual(lock, own)) return undefined;
      const record = recordOf(await readRecordFile(stateDir, taskId));
      if (record === undefined || !isWaiting(record)) return undefined;
      const ended: TaskRecord = {
        ...record,
        ...ending,
        ended_at: new Date(clock.now()).toISOString(),
        change_seq: record.change_seq + 1,
      };
      await writeRecordFile(stateDir, ended);
      await rm(stateDir.ticketFile(taskId), { force: true });
      return ended;
    });
  }

  /**
   * A critical section over the locks. Tasks of dead owners get their end before, outside of it, since that takes seconds; one that could
   * not be ended holds its project no longer.
   */
  async #exclusively<T>(act: (table: LockTable) => Promise<T>): Promise<T> {
    const { locks } = this.#options;
    const ended = new Set<string>();
    for (const { task_id, since } of (await locks.table()).dead) {
      try {
        await this.#endDead(task_id);
        ended.add(task_id + since);
      } catch (error) {
        this.#warn('a dead task could not be given its end', error, task_id);
      }
    }
    return locks.exclusively(async (table) => {
      for (const lock of table.dead) if (ended.has(lock.task_id + lock.since)) await table.clear(lock);
      return act(table);
    });
  }

  /** Ends what a dead keeper left behind, before another task gets its project. */
  async #endDead(taskId: string): Promise<void> {
    const { stateDir } = this.#options;
    const file = await readRecordFile(stateDir, taskId);
    if (file.state === 'corrupt') await endUnreadable(taskId, file.why, this.#options);
    if (file.state !== 'ok' || file.record.keeper === null || isFinal(file.record.status)) return;
    if ((await ownerState(file.record.keeper, stateDir.path)) === 'gone')
      await recoverTask(file.record, this.#options);
  }

  #lookLater(): void {
    if (!this.#options.staysOn || this.#timer !== undefined || this.#isDisposed) return;
    this.#timer = this.#options.clock.after(LOOK_INTERVAL_MS, () => {
      this.#timer = undefined;
      this.advance().catch((error: unknown) => {
        this.#warn('the queue could not go on', error);
        this.#lookLater();
      });
    });
  }

  #warn(what: string, error: unknown, taskId?: string): undefined {
    this.#options.logger.warn(what, { task_id: taskId, error: messageOf(error) });
  }
}

function isWaiting({ status, keeper }: TaskRecord): boolean {
  return status === 'pending' && keeper === null;
}
