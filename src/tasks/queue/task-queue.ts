import { modeFor, modesIn, type ModeSettings } from '../../approvals/modes.js';
import type { Clock } from '../../base/clock.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import { readJsonFile } from '../../base/files/json-file.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import type { EndMarked } from '../../os/choose-processes.js';
import { AllowedRoots } from '../../projects/allowed-roots.js';
import { ownerState } from '../../store/owner-state.js';
import type { Lock, LockHolder, LockTable, ProjectLocks } from '../../store/project-lock.js';
import type { StateDir } from '../../store/state-dir.js';
import { endQueued, persistQueued, QueueFolder } from './queue-folder.js';
import {
  nextPlace,
  standings,
  TICKET_VERSION,
  type ProjectHolder,
  type Standing,
  type Ticket,
} from './queue-order.js';
import { readRecordFile, recordOf } from '../record/record-file.js';
import { endUnreadable, recoverTask } from '../record/recovery.js';
import { isFinal, type TaskRecord } from '../task.js';
import type { TaskHost } from '../task-host.js';
import { taskSpecSchema, type TaskSpec } from '../task-spec.js';

/** A keeper that ends starts what comes next; this is for those that were killed. */
const LOOK_INTERVAL_MS = 5_000;

export interface TaskQueueOptions {
  readonly stateDir: StateDir;
  readonly locks: ProjectLocks;
  readonly host: TaskHost;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends every process that carries a task's mark. */
  readonly endMarked: EndMarked;
  readonly onRecovered?: (record: TaskRecord) => void;
  /** Which modes the settings allow now, for a task that waited. Throws CONFIG_ERROR: then it waits on. */
  readonly modesNow?: ((spec: TaskSpec) => Promise<ModeSettings>) | undefined;
  /** True for a process that stays: it checks repeatedly while tasks wait. */
  readonly staysOn: boolean;
}

export interface EntryRequest {
  readonly spec: TaskSpec;
  readonly prompt: string;
  readonly allowedRoots: readonly string[];
  readonly maxConcurrentTasks: number;
  /** False for a caller that wants to know which task has the project instead. */
  readonly waitsForProject: boolean;
}

export type Entry =
  /** It may start now: the project is reserved for it. */
  | { readonly state: 'free'; readonly reservation: Lock }
  | { readonly state: 'queued'; readonly record: TaskRecord }
  | { readonly state: 'busy'; readonly holder: ProjectHolder };

/**
 * The tasks that wait for their project or for their turn, over all servers of the user. It lives on disk: every server and
 * every keeper that ends starts what can start, so that the queue goes on also when no server runs.
 */
export class TaskQueue implements Disposable {
  readonly #options: TaskQueueOptions;
  readonly #folder: QueueFolder;
  #isDisposed = false;
  #timer: Disposable | undefined;

  constructor(options: TaskQueueOptions) {
    this.#options = options;
    this.#folder = new QueueFolder(options.stateDir, options.logger);
  }

  /** Gives a new task its project, or its place behind the others. Throws STATE_UNUSABLE. */
  async enter(request: EntryRequest): Promise<Entry> {
    const { spec } = request;
    const entry = await this.#exclusively(async (table): Promise<Entry> => {
      const tickets = await this.#folder.tickets(true);
      const ticket: Ticket = {
        version: TICKET_VERSION,
        task_id: spec.task_id,
        project_path: spec.project_path,
        ...nextPlace(tickets, spec.project_path),
        queued_at: spec.created_at,
        allowed_roots: [...request.allowedRoots],
        max_concurrent_tasks: request.maxConcurrentTasks,
      };
      const own = standings([...tickets, ticket], table.held).find((one) => one.ticket === ticket)?.standing;
      if (own?.state !== 'waits') return { state: 'free', reservation: await reserve(table, ticket) };
      if (own.for === 'project' && !request.waitsForProject) return { state: 'busy', holder: own.holder };
      const record = await persistQueued(request, this.#options, own, () => this.#folder.add(ticket));
      return { state: 'queued', record };
    });
    if (entry.state === 'queued') this.#lookLater();
    return entry;
  }

  /**
   * Starts every queued task that can start; resolves when they run. A task that cannot be started ends as `error` and makes
   * room for the next. Throws STATE_UNUSABLE; the queue stays as it is then.
   */
  async advance(): Promise<void> {
    // A process that adds a ticket advances the queue itself: without one there is nothing to do.
    if ((await this.#folder.tickets()).length === 0) return;
    const { begun, left } = await this.#exclusively((table) => this.#takeNext(table));
    if (left > 0) this.#lookLater();
    await Promise.all(
      begun.map(async (one) => {
        const outcome = await this.#begin(one.ticket, one.reservation);
        if (outcome === 'waits') this.#lookLater();
        if (outcome === 'ended' && !this.#isDisposed) await this.advance();
      }),
    );
  }

  /** Ends a task that still waits; undefined for one that does not, or is being started. */
  cancel(taskId: string, reason: string): Promise<TaskRecord | undefined> {
    return this.#endWaiting(taskId, 'killed', reason, () => true);
  }

  /** The current position of each queued task, by its id. */
  async look(): Promise<ReadonlyMap<string, Standing>> {
    const tickets = await this.#folder.tickets();
    if (tickets.length === 0) return new Map();
    this.#lookLater();
    const { held } = await this.#options.locks.table();
    return new Map(standings(tickets, held).map(({ ticket, standing }) => [ticket.task_id, standing]));
  }

  dispose(): void {
    this.#timer?.dispose();
    this.#isDisposed = true;
  }

  /** Reserves the projects of the tasks that come next. No other process does so meanwhile. */
  async #takeNext(
    table: LockTable,
  ): Promise<{ begun: { ticket: Ticket; reservation: Lock }[]; left: number }> {
    for (;;) {
      const tickets = await this.#folder.tickets(true);
      const queued = standings(tickets, table.held);
      const next = queued.filter(({ standing }) => standing.state === 'next').map(({ ticket }) => ticket);
      if (await this.#dropStale(next)) continue;
      const begun = [];
      for (const ticket of next) {
        const reservation = await this.#reserveIfPossible(table, ticket);
        if (reservation !== undefined) begun.push({ ticket, reservation });
      }
      return { begun, left: queued.length - begun.length };
    }
  }

  /** Undefined when the disk or the lock does not let it: the ticket waits for the next check, and the other tasks start. */
  async #reserveIfPossible(table: LockTable, ticket: Ticket): Promise<Lock | undefined> {
    try {
      return await reserve(table, ticket);
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      this.#options.logger.warn('the project of a queued task could not be reserved', {
        task_id: ticket.task_id,
        error: error.message,
      });
      return undefined;
    }
  }

  /** Removes the tickets of tasks that a keeper had already, and of those whose caller never got an answer. */
  async #dropStale(tickets: readonly Ticket[]): Promise<boolean> {
    let dropped = false;
    for (const { task_id } of tickets) {
      const file = await readRecordFile(this.#options.stateDir, task_id);
      if (file.state === 'ok' && file.record.status === 'pending' && file.record.keeper === null) continue;
      dropped = true;
      await this.#folder.remove(task_id);
      // Its server died before it wrote the record, and so before it answered.
      if (file.state === 'missing') await this.#options.stateDir.removeTaskDir(task_id);
    }
    return dropped;
  }

  async #begin(ticket: Ticket, reservation: Lock): Promise<'started' | 'ended' | 'waits'> {
    const { host, logger } = this.#options;
    const taskId = ticket.task_id;
    try {
      const spec = await this.#spec(ticket);
      const path = await AllowedRoots.ofReal(ticket.allowed_roots, '/').resolveDirectory(spec.project_path);
      if (path !== spec.project_path) throw moved(spec.project_path, path);
      const modes = await this.#options.modesNow?.(spec);
      if (modes !== undefined) modeFor(spec.permission_mode, path, modesIn(path, modes));
      await host.launch(spec);
      await this.#folder.remove(taskId);
      return 'started';
    } catch (error) {
      try {
        return await this.#failed(ticket, error);
      } catch (second) {
        logger.error('a queued task that could not be started stays in the queue', {
          task_id: taskId,
          error: messageOf(error),
          then: messageOf(second),
        });
        return 'waits';
      }
    } finally {
      // The task's keeper has the project, or no one.
      reservation.release();
    }
  }

  async #failed({ task_id: taskId }: Ticket, error: unknown): Promise<'ended' | 'waits'> {
    // Another keeper of it was faster: the next check shows that. Settings that cannot be read are corrected soon.
    if (error instanceof BridgeError && ['TASK_ALREADY_RUNNING', 'CONFIG_ERROR'].includes(error.code))
      return 'waits';
    const hint = error instanceof BridgeError ? ` ${error.hint}` : '';
    const reason = `The queued task could not be started: ${messageOf(error)}${hint}`;
    if ((await this.#endWaiting(taskId, 'error', reason, isTaken)) !== undefined) return 'ended';
    const { held } = await this.#options.locks.table();
    // A keeper has it, which may only be late.
    if (held.some((lock) => lock.task_id === taskId && isTaken(lock))) return 'waits';
    const record = await this.#record(taskId);
    // A keeper that died while it started may have left an agent. One process writes the end.
    if (record !== undefined && record.keeper !== null && !isFinal(record.status))
      await recoverTask(record, this.#options, { ending: { status: 'error', reason } });
    await this.#folder.remove(taskId);
    return 'ended';
  }

  /**
   * Ends a task that waits and has no keeper, and removes its ticket; a keeper that starts meanwhile then refuses it. Undefined for any
   * other task, and for one with a lock that `isBusy`.
   */
  #endWaiting(
    taskId: string,
    status: 'killed' | 'error',
    reason: string,
    isBusy: (lock: LockHolder) => boolean,
  ): Promise<TaskRecord | undefined> {
    return this.#options.locks.exclusively(async ({ held }) => {
      if (held.some((lock) => lock.task_id === taskId && isBusy(lock))) return undefined;
      const waits = (await this.#folder.tickets()).some((ticket) => ticket.task_id === taskId);
      const record = waits ? await this.#record(taskId) : undefined;
      if (record?.keeper !== null || isFinal(record.status)) return undefined;
      const ended = await endQueued(record, status, reason, this.#options);
      await this.#folder.remove(taskId);
      return ended;
    });
  }

  /** A critical section over the locks. Tasks of dead owners get their end before, outside of it, since that takes seconds. */
  async #exclusively<T>(act: (table: LockTable) => Promise<T>): Promise<T> {
    const { locks } = this.#options;
    const first = await locks.exclusively(async (table) =>
      table.dead.length > 0 ? { dead: table.dead } : { result: await act(table) },
    );
    if ('result' in first) return first.result;
    const recovered = await this.#recoverAll(first.dead);
    return locks.exclusively(async (table) => {
      for (const lock of table.dead) {
        if (recovered.some((one) => one.task_id === lock.task_id && one.since === lock.since))
          await table.clear(lock);
      }
      return act(table);
    });
  }

  /** The locks whose tasks have their end now. */
  async #recoverAll(dead: readonly LockHolder[]): Promise<LockHolder[]> {
    const recovered: LockHolder[] = [];
    for (const lock of dead) {
      try {
        await this.#recover(lock);
        recovered.push(lock);
      } catch (error) {
        this.#options.logger.warn('a dead task could not be given its end', { error: messageOf(error) });
      }
    }
    return recovered;
  }

  /** Ends what a dead keeper left behind, before another task gets its project. */
  async #recover({ task_id: taskId }: LockHolder): Promise<void> {
    const file = await readRecordFile(this.#options.stateDir, taskId);
    if (file.state === 'corrupt') await endUnreadable(taskId, file.why, this.#options);
    const record = recordOf(file);
    if (record === undefined || record.keeper === null || isFinal(record.status)) return;
    const keeper = await ownerState(record.keeper, this.#options.stateDir.path);
    if (keeper === 'gone') await recoverTask(record, this.#options);
  }

  async #spec(ticket: Ticket): Promise<TaskSpec> {
    const file = await readJsonFile(this.#options.stateDir.specFile(ticket.task_id), taskSpecSchema);
    if (file.state === 'ok') return file.value;
    throw new BridgeError('TASK_START_FAILED', `Its spec is ${file.state}.`, 'Start it again.');
  }

  async #record(taskId: string): Promise<TaskRecord | undefined> {
    return recordOf(await readRecordFile(this.#options.stateDir, taskId));
  }

  #lookLater(): void {
    if (!this.#options.staysOn || this.#timer !== undefined || this.#isDisposed) return;
    this.#timer = this.#options.clock.after(LOOK_INTERVAL_MS, () => {
      this.#timer = undefined;
      this.advance().catch((error: unknown) => {
        this.#options.logger.warn('the queue could not go on', { error: messageOf(error) });
        this.#lookLater();
      });
    });
  }
}

/** By its keeper, and not by a server that starts it. */
function isTaken({ reserved }: LockHolder): boolean {
  return !(reserved ?? false);
}

function reserve(table: LockTable, ticket: Ticket): Promise<Lock> {
  return table.reserve({ projectPath: ticket.project_path, taskId: ticket.task_id });
}

function moved(asked: string, real: string): BridgeError {
  return new BridgeError(
    'PATH_NOT_ALLOWED',
    `The project ${asked} is a link by now, to ${real}.`,
    'Start the task again with the path that is meant.',
  );
}
