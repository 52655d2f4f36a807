// Pure: the tasks of one other machine.
import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { idOn } from '../base/ids.js';
import type { Disposable } from '../base/lifecycle.js';
import { oneLine } from '../base/text.js';
import { fitsQuery, type OutputPage, type OutputQuery, type TaskQuery } from '../tasks/task-service.js';
import { isFinal, type TaskRecord } from '../tasks/task.js';
import { cutWords, errorFrom, recordFrom, timeWords } from './far-records.js';
import { LastRead } from './last-read.js';
import type { LinkMethods } from './link-protocol.js';
import type { Source } from './machine-lists.js';
import { MachineWatch } from './machine-watch.js';
import type { LinkRequest, Machine } from './machine.js';

/** A list, and a task of which something is known, wait so long for a machine. */
export const GLANCE_MS = 3_000;
const FIRST_READ_MS = 25_000;
/** A call is answered before its client gives it up at 60 s; to open a line takes some of it. */
const CALL_MS = 50_000;
const MAX_LISTED = 100;
/** What is older than some rounds of the watch is not of now. */
const FRESH_MS = 15_000;
const WHY_CHARS = 300;

/** What is done to a task there. */
export type FarAct = 'task.kill' | 'task.respond' | 'task.message';

/**
 * The tasks of one machine by their ids there, as they are known here. The machine owns them: here is only what was read last, which is
 * shown while it does not answer.
 */
export class FarTasks implements Disposable {
  readonly #machine: Machine;
  readonly #clock: Clock;
  readonly #last = new LastRead();
  readonly #watch: MachineWatch;

  /** `changed` gets the ids there of followed tasks that can be read otherwise than before. */
  constructor(machine: Machine, clock: Clock, changed: (id: string) => void) {
    this.#machine = machine;
    this.#clock = clock;
    this.#watch = new MachineWatch({
      machine,
      clock,
      known: (id) => this.#last.get(id)?.record,
      keep: (record) => this.#last.put(record, clock.now()),
      changed,
      forget: (id) => this.#last.delete(id),
    });
  }

  get name(): string {
    return this.#machine.name;
  }

  /** In words, why the machine says nothing. */
  get silence(): string {
    return `${this.name} (${cutWords(this.#machine, this.#clock.now())})`;
  }

  /** Its state directory, by which two names of one machine are seen; undefined before the first answer. */
  get stateId(): string | undefined {
    const { state } = this.#machine;
    return state.how === 'live' ? state.far.state_id : undefined;
  }

  dispose(): void {
    this.#watch.dispose();
  }

  /** Follows a task there, or all that are `active`. */
  watch(id: string): Disposable {
    return this.#watch.watch(id);
  }

  /** The ids here of the tasks that were read last. */
  ids(): string[] {
    return this.#last.all().map(({ record }) => idOn(this.name, record.task_id));
  }

  /** As it is now, else as it was read last, with `line`. Throws MACHINE_UNREACHABLE where nothing is known of it. */
  async get(id: string, limitMs?: number): Promise<TaskRecord> {
    const known = this.#last.get(id);
    const timeoutMs = limitMs ?? (known === undefined ? FIRST_READ_MS : GLANCE_MS);
    try {
      const record = await this.#call('task.get', { task_id: id }, { repeats: true, timeoutMs });
      return this.#keep(record);
    } catch (error) {
      if (known === undefined || !isUnreachable(error)) throw error;
      return this.#asOf(known);
    }
  }

  /** What `watch` has read of a task, in its words where that is not of now; undefined where nothing is known. */
  seen(id: string): TaskRecord | undefined {
    const known = this.#last.get(id);
    if (known === undefined) return undefined;
    const isFresh = this.#machine.state.how !== 'unverifiable' && this.#clock.now() - known.atMs < FRESH_MS;
    // A final status never changes again.
    const isCertain = isFresh || isFinal(known.record.status);
    return isCertain ? recordFrom(this.#machine, known.record) : this.#asOf(known);
  }

  /** `repeats`: with a request id. */
  async act<K extends FarAct>(name: K, args: LinkMethods[K]['args'], repeats: boolean): Promise<TaskRecord> {
    return this.#keep(await this.#call(name, args, { repeats, timeoutMs: CALL_MS }));
  }

  async output(id: string, { view, cursor, maxBytes }: Omit<OutputQuery, 'taskId'>): Promise<OutputPage> {
    const args = { task_id: id, view, cursor, max_bytes: maxBytes };
    const {
      task,
      total_bytes: totalBytes,
      ...page
    } = await this.#call('task.output', args, {
      repeats: true,
      timeoutMs: CALL_MS,
    });
    return { ...page, totalBytes, task: this.#keep(task) };
  }

  /** Undefined while the task runs. */
  async receiptOf(id: string, signal: AbortSignal) {
    const request = { signal, repeats: true, timeoutMs: CALL_MS };
    return (await this.#call('task.receipt', { task_id: id }, request)).receipt ?? undefined;
  }

  /** What the machine lists, else what was read last of it, and why. Never rejects. */
  async list(query: TaskQuery, cursor?: string): Promise<Source> {
    const { name } = this;
    const { status, purpose, delegated, limit = MAX_LISTED } = query;
    const args = { status, purpose, delegated, cursor, limit: Math.min(limit, MAX_LISTED) };
    try {
      const page = await this.#call('task.list', args, { repeats: true, timeoutMs: GLANCE_MS });
      const tasks = page.tasks.map((record) => this.#keep(record));
      const unreadable = page.unreadable?.map((one) => ({ ...one, task_id: idOn(name, one.task_id) }));
      return { name, tasks, more: page.cursor !== undefined, unreadable };
    } catch (error) {
      const reads = this.#last.all().filter(({ record }) => fitsQuery(record, query));
      const at = reads.findIndex(({ record }) => record.task_id === cursor);
      // Nothing is known to come after a task that is not known.
      const left = cursor !== undefined && at === -1 ? [] : reads.slice(at + 1);
      const why = isUnreachable(error)
        ? cutWords(this.#machine, this.#clock.now())
        : oneLine(messageOf(error), WHY_CHARS);
      const shown =
        left.length === 0 ? 'no more is known of its tasks' : 'its tasks are shown as they were read last';
      const note = `${name}: ${why}; ${shown}. What runs there runs on.`;
      return { name, tasks: left.map((read) => this.#asOf(read)), more: false, note };
    }
  }

  #keep(record: TaskRecord): TaskRecord {
    this.#last.put(record, this.#clock.now());
    return recordFrom(this.#machine, record);
  }

  #asOf({ record, atMs }: { readonly record: TaskRecord; readonly atMs: number }): TaskRecord {
    const nowMs = this.#clock.now();
    const line = `${cutWords(this.#machine, nowMs)}; as of ${timeWords(atMs, nowMs)}`;
    return { ...recordFrom(this.#machine, record), line };
  }

  async #call<K extends keyof LinkMethods>(
    name: K,
    args: LinkMethods[K]['args'],
    request: LinkRequest,
  ): Promise<LinkMethods[K]['value']> {
    try {
      return await this.#machine.call(name, args, request);
    } catch (error) {
      throw errorFrom(this.name, error);
    }
  }
}

function isUnreachable(error: unknown): boolean {
  return error instanceof BridgeError && error.code === 'MACHINE_UNREACHABLE';
}
