// The tasks of one other machine.
import { z } from 'zod';
import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { createSecret, farIdOf, idOn, TASK_ID_PATTERN } from '../base/ids.js';
import type { Disposable } from '../base/lifecycle.js';
import { headBytes, oneLine } from '../base/text.js';
import { KeeperClient } from '../keeper/host/keeper-client.js';
import type { TakeChunk } from '../os/run-program.js';
import type { Receipt } from '../tasks/receipt/receipt.js';
import type { FinishedTask, FinishTask } from '../tasks/task-finisher.js';
import type { DecisionAnswer, SentMessage } from '../tasks/task-host.js';
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
import { PATCH_PART_BYTES, type LinkMethods } from './link-protocol.js';
import type { Source } from './machine-lists.js';
import { MachineWatch, type MachineWatchOptions } from './machine-watch.js';
import type { FarAnswer, LinkRequest, Machine } from './machine.js';

/** A list, and a task of which something is known, wait so long for a machine. */
export const GLANCE_MS = 3_000;
const FIRST_READ_MS = 25_000;
/** A call is answered before its client gives it up at 60 s; to open a line takes some of it. */
const CALL_MS = 50_000;
const MAX_LISTED = 100;
/** An entry of the journal is not cut by a smaller limit of its page. */
const MAX_ENTRY_BYTES = 256 * 1024;
const WHY_CHARS = 300;

/** A tool answers in 45 s. */
const TOOL_MS = 60_000;
/** Of a patch, which a person reads or applies. */
const MAX_PATCH_BYTES = 64 * 1024 * 1024;
/** So many, however small they are. */
const MAX_PATCH_PARTS = 2 * (MAX_PATCH_BYTES / PATCH_PART_BYTES);
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

/**
 * The tasks of one machine by their ids there, as they are known here. The machine owns them: here is only what was read last, which is
 * shown while it does not answer.
 */
export class FarTasks implements Disposable {
  readonly machine: Machine;
  readonly #clock: Clock;
  readonly #last = new LastRead();
  readonly #watch: MachineWatch;

  constructor(options: MachineWatchOptions) {
    this.machine = options.machine;
    this.#clock = options.clock;
    this.#watch = new MachineWatch(options);
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
      const record = await this.#call('task.get', { task_id: id }, { timeoutMs });
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
    return isFinal(known.record.status)
      ? recordFrom(this.machine, known.record, this.#clock.now())
      : this.#asOf(known);
  }

  kill(id: string, reason: string): Promise<TaskRecord> {
    return this.#act('task.kill', { task_id: id, reason }, { repeats: false });
  }

  respond(id: string, { request_id = createSecret(), ...answer }: DecisionAnswer): Promise<TaskRecord> {
    return this.#act('task.respond', { task_id: id, answer, request_id });
  }

  message(id: string, { requestId = createSecret(), ...message }: SentMessage): Promise<TaskRecord> {
    return this.#act('task.message', { task_id: id, ...message, request_id: requestId });
  }

  async output({ taskId: task_id, view, cursor, maxBytes }: OutputQuery): Promise<OutputPage> {
    const page = await this.#call('task.output', { task_id, view, cursor, max_bytes: maxBytes });
    // So that no answer is longer for what a machine sends.
    const text = headBytes(page.text, view === 'events' ? Math.max(maxBytes, MAX_ENTRY_BYTES) : maxBytes);
    return { ...page, text, totalBytes: page.total_bytes, task: this.#keep(page.task) };
  }

  /** Undefined while the task runs. */
  async receiptOf(id: string, signal: AbortSignal): Promise<Receipt | undefined> {
    return (await this.#call('task.receipt', { task_id: id }, { signal })).receipt ?? undefined;
  }

  /** The whole prompt. */
  async promptOf(id: string): Promise<string> {
    return (await this.#call('task.prompt', { task_id: id })).text;
  }

  /** Passes the patch of a task on; resolves with what is to be said about it, and whether there is one. Throws what git there says. */
  async patch(id: string, take: TakeChunk, signal: AbortSignal): Promise<FarPatch> {
    for (let offset = 0, parts = 0; ;) {
      const page = await this.#call('task.patch', { task_id: id, offset }, { signal });
      if (page.bytes !== undefined) await take(Buffer.from(page.bytes, 'base64'));
      const { next_offset: next, notes, tree } = page;
      if (next === undefined || next <= offset || signal.aborted)
        return { isEmpty: offset === 0 && page.bytes === undefined, notes, tree };
      offset = next;
      if (offset <= MAX_PATCH_BYTES && (parts += 1) <= MAX_PATCH_PARTS) continue;
      const message = `The patch of ${idOn(this.name, id)} is longer than 64 MiB: what was read is not all of it.`;
      const hint = `In a terminal there: claude-code-bridge tasks diff ${id} > work.patch`;
      throw new BridgeError('FILE_TOO_LARGE', message, hint);
    }
  }

  /** Has the machine do what a page asks for. Its answer is foreign. */
  actOfPage(id: string, action: object, by: string, repeats: boolean): Promise<FarAnswer> {
    return this.#call('task.act', { task_id: id, action: { ...action }, by }, { repeats });
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
  tool(name: string, args: object): Promise<FarAnswer> {
    return this.#asked(this.machine.callTool(name, args, { repeats: true, timeoutMs: TOOL_MS }));
  }

  /** A connection to the keeper of a task, which ends with the line. */
  async terminal(id: string): Promise<KeeperClient> {
    const channel = await this.#asked(this.machine.openChannel({ kind: 'terminal', task_id: id }));
    return new KeeperClient(idOn(this.name, id), channelStream(channel));
  }

  /** The newest tasks in projects, and questions; those that cannot be read, too. */
  async all(limit: number): Promise<{ readonly tasks: TaskRecord[]; readonly unreadable: UnreadableTask[] }> {
    const tasks: TaskRecord[] = [];
    const unreadable: UnreadableTask[] = [];
    for (const purpose of ['task', 'ask'] as const) {
      let cursor: string | undefined;
      for (let left = limit; left > 0; left -= MAX_LISTED) {
        const page = await this.#call('task.list', { purpose, cursor, limit: MAX_LISTED });
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
      const page = await this.#call('task.list', args, { timeoutMs: GLANCE_MS });
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
    return recordFrom(this.machine, record, this.#clock.now());
  }

  #asOf({ record, atMs }: { readonly record: TaskRecord; readonly atMs: number }): TaskRecord {
    const nowMs = this.#clock.now();
    const line = `${cutWords(this.machine, nowMs)}; as of ${timeWords(atMs, nowMs)}`;
    return { ...recordFrom(this.machine, record, nowMs), line };
  }

  async #act<K extends 'task.kill' | 'task.respond' | 'task.message'>(
    name: K,
    args: LinkMethods[K]['args'],
    request?: Partial<LinkRequest>,
  ): Promise<TaskRecord> {
    return this.#keep(await this.#call(name, args, request));
  }

  #call<K extends keyof LinkMethods>(
    name: K,
    args: LinkMethods[K]['args'],
    request: Partial<LinkRequest> = {},
  ): Promise<LinkMethods[K]['value']> {
    return this.#asked(this.machine.call(name, args, { repeats: true, timeoutMs: CALL_MS, ...request }));
  }

  /** What is thrown there names its tasks as they are here. */
  async #asked<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      throw errorFrom(this.name, error);
    }
  }
}

function isUnreachable(error: unknown): boolean {
  return error instanceof BridgeError && error.code === 'MACHINE_UNREACHABLE';
}
