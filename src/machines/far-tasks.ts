// The tasks of one other machine.
import { z } from 'zod';
import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { createSecret, farIdOf, idOn, TASK_ID_PATTERN } from '../base/ids.js';
import type { Disposable } from '../base/lifecycle.js';
import { oneLine } from '../base/text.js';
import { KeeperClient } from '../keeper/host/keeper-client.js';
import type { TakeChunk } from '../os/run-program.js';
import type { FinishedTask, FinishTask } from '../tasks/task-finisher.js';
import {
  fitsQuery,
  type OutputPage,
  type OutputQuery,
  type StartTask,
  type TaskQuery,
  type UnreadableTask,
} from '../tasks/task-service.js';
import { isFinal, type TaskRecord } from '../tasks/task.js';
import { channelStream } from './channel-stream.js';
import { cutWords, errorFrom, recordFrom, timeWords } from './far-records.js';
import { startArgs } from './far-tools.js';
import { LastRead } from './last-read.js';
import type { LinkMethods } from './link-protocol.js';
import type { Source } from './machine-lists.js';
import { MachineWatch, type MachineWatchOptions } from './machine-watch.js';
import type { FarAnswer, LinkRequest, Machine } from './machine.js';
import { unanswered } from './unreachable.js';

/** A list, and a task of which something is known, wait so long for a machine. */
export const GLANCE_MS = 3_000;
const FIRST_READ_MS = 25_000;
/** A call is answered before its client gives it up at 60 s; to open a line takes some of it. */
const CALL_MS = 50_000;
const MAX_LISTED = 100;
/** Of what was asked for; a page may end with a whole line. */
const MAX_OVER = 4;
const WHY_CHARS = 300;

/** A tool answers in 45 s. */
const TOOL_MS = 60_000;
const finishedSchema = z.object({ message: z.string().max(100_000) });
const startedSchema = z.object({ task_id: z.string().regex(TASK_ID_PATTERN) });

/** What the settings here say of tasks, which holds for those that are started there, too. */
export type StartLimits = Parameters<typeof startArgs>[2];

interface FarPatch {
  /** The notes say why. */
  readonly isEmpty: boolean;
  readonly notes: readonly string[];
  /** What `finish_task` takes as reviewed. */
  readonly tree: string | undefined;
}

/** What is done to a task there. */
export type FarAct = 'task.kill' | 'task.respond' | 'task.message';

/**
 * The tasks of one machine by their ids there, as they are known here. The machine owns them: here is only what was read last, which is
 * shown while it does not answer.
 */
export class FarTasks implements Disposable {
  readonly machine: Machine;
  readonly #clock: Clock;
  readonly #last = new LastRead();
  readonly #watch: MachineWatch;

  /** `changed` gets the ids there of followed tasks that can be read otherwise than before. */
  constructor(
    machine: Machine,
    clock: Clock,
    listeners: Pick<MachineWatchOptions, 'changed' | 'reached'>,
  ) {
    this.machine = machine;
    this.#clock = clock;
    const { reached } = listeners;
    this.#watch = new MachineWatch({ machine, clock, changed: listeners.changed, reached });
  }

  get name(): string {
    return this.machine.name;
  }

  /** In words, why the machine says nothing. */
  get silence(): string {
    return `${this.name} (${cutWords(this.machine, this.#clock.now())})`;
  }

  /** Its state directory, by which two names of one machine are seen; undefined before the first answer. */
  get stateId(): string | undefined {
    const { state } = this.machine;
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
      if (error instanceof BridgeError && error.code === 'TASK_NOT_FOUND') this.#last.delete(id);
      if (known === undefined || !isUnreachable(error)) throw error;
      return this.#asOf(known);
    }
  }

  /** As `get`, and at once while the line is cut, where something is known. */
  async seen(id: string): Promise<TaskRecord> {
    const known = this.#last.get(id);
    const isCut = this.machine.state.how === 'unverifiable';
    if (known === undefined || !isCut) return this.get(id);
    // A final status never changes again.
    return isFinal(known.record.status) ? recordFrom(this.machine, known.record) : this.#asOf(known);
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
    if (page.text.length > maxBytes * MAX_OVER)
      throw unanswered(this.name, 'unknown', 'has sent more than was asked for');
    return { ...page, totalBytes, task: this.#keep(task) };
  }

  /** Undefined while the task runs. */
  async receiptOf(id: string, signal: AbortSignal) {
    const request = { signal, repeats: true, timeoutMs: CALL_MS };
    return (await this.#call('task.receipt', { task_id: id }, request)).receipt ?? undefined;
  }

  /** The whole prompt. */
  async promptOf(id: string): Promise<string> {
    return (await this.#call('task.prompt', { task_id: id }, { repeats: true, timeoutMs: CALL_MS })).text;
  }

  /** Passes the patch of a task on; resolves with what is to be said about it, and whether there is one. Throws what git there says. */
  async patch(id: string, take: TakeChunk, signal: AbortSignal): Promise<FarPatch> {
    for (let offset = 0; ;) {
      const request = { signal, repeats: true, timeoutMs: CALL_MS };
      const page = await this.#call('task.patch', { task_id: id, offset }, request);
      if (page.bytes !== undefined) await take(Buffer.from(page.bytes, 'base64'));
      const { next_offset: next, notes, tree } = page;
      if (next === undefined || next <= offset || signal.aborted)
        return { isEmpty: offset === 0 && page.bytes === undefined, notes, tree };
      offset = next;
    }
  }

  /** Has the machine do what a page asks for. Its answer is foreign. */
  actOfPage(id: string, action: object, by: string, repeats: boolean) {
    const request = { repeats, timeoutMs: CALL_MS };
    return this.#call('task.act', { task_id: id, action: { ...action }, by }, request);
  }

  /** As the tool there does it. Throws what it throws. */
  async finish(id: string, { action, reviewed, anyway, requestId }: FinishTask): Promise<FinishedTask> {
    const { message } = finishedSchema.parse(
      await this.tool('finish_task', {
        ...{ task_id: id, action },
        ...(reviewed !== undefined && { reviewed }),
        ...(anyway === true && { anyway }),
        request_id: requestId ?? createSecret(),
      }),
    );
    return { record: await this.get(id), notes: [message] };
  }

  /** Starts a task there, once also where the answer is lost. Throws what `start_task` there throws. */
  async start(input: StartTask, limits: StartLimits): Promise<TaskRecord> {
    const args = {
      ...{ prompt: input.prompt, path: input.path, model: input.model, checks: input.checks },
      permission_mode: input.permissionMode,
      timeout_seconds: input.timeoutSeconds,
      max_cost_usd: input.maxCostUsd,
      max_tokens: input.maxTokens,
      until_met: input.untilMet,
      continue_from: input.continueFrom && (farIdOf(input.continueFrom)?.id ?? input.continueFrom),
      on_conflict: input.onConflict,
      request_id: input.requestId ?? createSecret(),
    };
    const answer = await this.tool('start_task', { ...args, ...startArgs(this.name, args, limits) });
    return this.get(startedSchema.parse(answer).task_id);
  }

  /** Calls a tool there, once also where the answer is lost. Throws what it throws. */
  async tool(name: string, args: object): Promise<FarAnswer> {
    const request = { repeats: true, timeoutMs: TOOL_MS };
    try {
      return await this.machine.callTool(name, args, request);
    } catch (error) {
      throw errorFrom(this.name, error);
    }
  }

  /** A connection to the keeper of a task, which ends with the line. */
  async terminal(id: string): Promise<KeeperClient> {
    try {
      const channel = await this.machine.openChannel({ kind: 'terminal', task_id: id });
      return new KeeperClient(idOn(this.name, id), channelStream(channel));
    } catch (error) {
      throw errorFrom(this.name, error);
    }
  }

  /** The newest tasks in projects, and questions; those that cannot be read, too. */
  async all(limit: number): Promise<{ readonly tasks: TaskRecord[]; readonly unreadable: UnreadableTask[] }> {
    const tasks: TaskRecord[] = [];
    const unreadable: UnreadableTask[] = [];
    for (const purpose of ['task', 'ask'] as const) {
      let cursor: string | undefined;
      for (let left = limit; left > 0; left -= MAX_LISTED) {
        const request = { repeats: true, timeoutMs: CALL_MS };
        const page = await this.#call('task.list', { purpose, cursor, limit: MAX_LISTED }, request);
        tasks.push(...page.tasks.map((record) => this.#keep(record)));
        unreadable.push(...this.#unreadable(page.unreadable));
        ({ cursor } = page);
        if (cursor === undefined) break;
      }
    }
    return { tasks, unreadable };
  }

  /** What the machine lists, else what was read last of it, and why. Never rejects. */
  async list(query: TaskQuery, cursor?: string): Promise<Source> {
    const { name } = this;
    const { status, purpose, delegated, limit = MAX_LISTED } = query;
    const args = { status, purpose, delegated, cursor, limit: Math.min(limit, MAX_LISTED) };
    try {
      const page = await this.#call('task.list', args, { repeats: true, timeoutMs: GLANCE_MS });
      const tasks = page.tasks.map((record) => this.#keep(record));
      const unreadable = this.#unreadable(page.unreadable);
      return { name, tasks, more: page.cursor !== undefined, unreadable };
    } catch (error) {
      const reads = this.#last.all().filter(({ record }) => fitsQuery(record, query));
      const at = reads.findIndex(({ record }) => record.task_id === cursor);
      // Nothing is known to come after a task that is not known.
      const left = cursor !== undefined && at === -1 ? [] : reads.slice(at + 1);
      const why = isUnreachable(error)
        ? cutWords(this.machine, this.#clock.now())
        : oneLine(messageOf(error), WHY_CHARS);
      const shown =
        left.length === 0 ? 'no more is known of its tasks' : 'its tasks are shown as they were read last';
      const note = `${name}: ${why}; ${shown}. What runs there runs on.`;
      return { name, tasks: left.map((read) => this.#asOf(read)), more: false, note };
    }
  }

  #unreadable(found: readonly UnreadableTask[] = []): UnreadableTask[] {
    return found.map((one) => ({ ...one, task_id: idOn(this.name, one.task_id) }));
  }

  #keep(record: TaskRecord): TaskRecord {
    this.#last.put(record, this.#clock.now());
    return recordFrom(this.machine, record);
  }

  #asOf({ record, atMs }: { readonly record: TaskRecord; readonly atMs: number }): TaskRecord {
    const nowMs = this.#clock.now();
    const line = `${cutWords(this.machine, nowMs)}; as of ${timeWords(atMs, nowMs)}`;
    return { ...recordFrom(this.machine, record), line };
  }

  async #call<K extends keyof LinkMethods>(
    name: K,
    args: LinkMethods[K]['args'],
    request: LinkRequest,
  ): Promise<LinkMethods[K]['value']> {
    try {
      return await this.machine.call(name, args, request);
    } catch (error) {
      throw errorFrom(this.name, error);
    }
  }
}

function isUnreachable(error: unknown): boolean {
  return error instanceof BridgeError && error.code === 'MACHINE_UNREACHABLE';
}
