// Pure: tasks of this machine and of others, as one service.
import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { createSecret, farIdOf, idOn, TASK_ID_PATTERN } from '../base/ids.js';
import { DisposableStore, Emitter, type Disposable } from '../base/lifecycle.js';
import { oneLine } from '../base/text.js';
import { knownTaskId } from '../mcp/known-task-id.js';
import type { DecisionAnswer, SentMessage } from '../tasks/task-host.js';
import type { Receipt } from '../tasks/receipt/receipt.js';
import type { TaskGuard } from '../tasks/task-refusals.js';
import {
  fitsQuery,
  type OutputPage,
  type OutputQuery,
  type StartTask,
  type TaskPage,
  type TaskQuery,
  type TaskService,
  type TaskWait,
  type WaitOutcome,
} from '../tasks/task-service.js';
import { isFinal, type TaskRecord } from '../tasks/task.js';
import { waitForTasks } from '../tasks/watch/task-waiter.js';
import { cutWords, errorFrom, recordFrom, timeWords } from './far-records.js';
import { LastRead } from './last-read.js';
import type { LinkMethods } from './link-protocol.js';
import { HERE, isLeft, mergedPage, placesIn, type Source } from './machine-lists.js';
import { ACTIVE, MachineWatch } from './machine-watch.js';
import type { LinkRequest, Machine, Machines } from './machine.js';

/** A list, and a task of which something is known, wait so long for a machine. */
const GLANCE_MS = 3_000;
/** A call is answered before its client gives it up at 60 s; to open a line takes some of it. */
const CALL_MS = 50_000;
const MAX_LISTED = 100;
/** What is older than a round of the watch is not of now. */
const FRESH_MS = 15_000;

export interface MachineTasksOptions {
  readonly local: TaskService;
  readonly machines: Machines;
  readonly clock: Clock;
  /** As for tasks of this machine. */
  readonly guard?: TaskGuard | undefined;
}

interface Place {
  readonly machine: Machine;
  /** As it is there. */
  readonly id: string;
}

/** What is known here of one machine. */
interface Known {
  readonly last: LastRead;
  readonly watch: MachineWatch;
}

/**
 * Routes by the machine in the id of a task, as `gpu/task_…`. Each machine owns its tasks: here is only what was read last, to be shown
 * while the line is cut. A bare id is of this machine, or of the only one that knows it.
 */
export class MachineTasks implements TaskService, Disposable {
  readonly #options: MachineTasksOptions;
  readonly #owned = new DisposableStore();
  readonly #changes = new Emitter<string>();
  readonly onDidChange = this.#changes.event;
  readonly #known = new Map<string, Known>();

  constructor(options: MachineTasksOptions) {
    this.#options = options;
    this.#owned.add(this.#changes);
    this.#owned.add(options.local.onDidChange((id) => this.#changes.fire(id)));
  }

  dispose(): void {
    this.#owned.dispose();
  }

  /** Of this machine: a task elsewhere is started by the far tool. */
  start(input: StartTask): Promise<TaskRecord> {
    return this.#options.local.start(input);
  }

  /** Of a machine that does not answer, what was read last, with `line`. */
  get(taskId: string): Promise<TaskRecord> {
    return this.#at(
      taskId,
      () => this.#options.local.get(taskId),
      (place) => this.#read(place),
    );
  }

  /** With a path, of this machine alone: the same path is another project elsewhere. */
  async list(query: TaskQuery): Promise<TaskPage> {
    const { local, machines } = this.#options;
    if (query.path !== undefined || query.native === true) return local.list(query);
    const places = placesIn(query.cursor);
    const here = async (): Promise<TaskPage> =>
      isLeft(places, HERE) ? local.list({ ...query, cursor: places.get(HERE) }) : { tasks: [] };
    const asked = machines.all.filter(({ name }) => isLeft(places, name));
    const [own, ...far] = await Promise.all([
      here(),
      ...asked.map((machine) => this.#listOf(machine, query, places.get(machine.name))),
    ]);
    const first: Source = { name: HERE, tasks: own.tasks, more: own.cursor !== undefined };
    const sources = [first, ...withoutTwins(far, asked)];
    const notes = sources.flatMap(({ note }) => note ?? []);
    const unreadable = [own, ...sources].flatMap((source) => source.unreadable ?? []);
    const page = mergedPage(sources, places, query.limit);
    return { ...own, cursor: undefined, unreadable, ...(notes.length > 0 && { notes }), ...page };
  }

  /** A line that is cut meanwhile ends no wait: its tasks are shown as they were read last. */
  async wait(query: TaskWait): Promise<WaitOutcome> {
    const { local, clock } = this.#options;
    if (!query.taskIds.some((id) => farIdOf(id) !== undefined)) {
      try {
        return await local.wait(query);
      } catch (error) {
        if (!isUnknown(error)) throw error;
      }
    }
    const named = query.taskIds.map(async (id) =>
      farIdOf(id) === undefined ? (await this.get(id)).task_id : id,
    );
    const taskIds = [...new Set(await Promise.all(named))];
    const seen = new Set<string>();
    const get = async (id: string): Promise<TaskRecord> => {
      const place = this.#placeOf(id);
      const known = place !== undefined && seen.has(id) ? this.#shown(place) : undefined;
      seen.add(id);
      return known ?? this.get(id);
    };
    const watch = (id: string): Disposable => this.watch(id);
    return waitForTasks({ ...query, taskIds }, { clock, get, watch, onDidChange: this.onDidChange });
  }

  async kill(taskId: string, reason: string): Promise<TaskRecord> {
    return this.#at(
      taskId,
      () => this.#options.local.kill(taskId, reason),
      (place) => this.#act(place, 'end tasks', 'task.kill', { task_id: place.id, reason }, false),
    );
  }

  async respond(taskId: string, answer: DecisionAnswer): Promise<TaskRecord> {
    return this.#at(
      taskId,
      () => this.#options.local.respond(taskId, answer),
      (place) => {
        const args = { task_id: place.id, answer, request_id: createSecret() };
        return this.#act(place, 'answer decisions', 'task.respond', args, true);
      },
    );
  }

  async message(taskId: string, message: SentMessage): Promise<TaskRecord> {
    return this.#at(
      taskId,
      () => this.#options.local.message(taskId, message),
      (place) => {
        const args = { task_id: place.id, ...message, request_id: createSecret() };
        return this.#act(place, 'steer tasks', 'task.message', args, true);
      },
    );
  }

  async output(query: OutputQuery): Promise<OutputPage> {
    return this.#at(
      query.taskId,
      () => this.#options.local.output(query),
      async ({ machine, id }) => {
        const { view, cursor, maxBytes } = query;
        const args = { task_id: id, view, cursor, max_bytes: maxBytes };
        const page = await call(machine, 'task.output', args, { repeats: true, timeoutMs: CALL_MS });
        const { task, total_bytes: totalBytes, ...rest } = page;
        return { ...rest, totalBytes, task: this.#keep({ machine, id }, task) };
      },
    );
  }

  /** The receipt of a task of another machine; undefined while it runs. */
  async receiptOf(taskId: string, signal: AbortSignal): Promise<Receipt | undefined> {
    const place = this.#placeOf(taskId);
    if (place === undefined) return undefined;
    const { machine, id } = place;
    const request = { signal, repeats: true, timeoutMs: CALL_MS };
    return (await call(machine, 'task.receipt', { task_id: id }, request)).receipt ?? undefined;
  }

  /** Of a machine, those that were read last; with its name in the prefix it is asked. */
  async taskIds(prefix: string): Promise<string[]> {
    const { local, machines } = this.#options;
    const far = farIdOf(prefix);
    const named = far && machines.all.find(({ name }) => name === far.machine);
    if (named !== undefined) await this.#listOf(named, {});
    const here = farIdOf(prefix) === undefined ? await local.taskIds(prefix) : [];
    const known = machines.all.flatMap(({ name }) =>
      (this.#known.get(name)?.last.all() ?? []).map(({ record }) => idOn(name, record.task_id)),
    );
    return [...here, ...known.filter((id) => id.startsWith(prefix))];
  }

  watch(taskId: string): Disposable {
    const { local, machines } = this.#options;
    const place = this.#placeOf(taskId);
    if (place !== undefined) return this.#knownOf(place.machine).watch.watch(place.id);
    if (taskId !== ACTIVE) return local.watch(taskId);
    const all = new DisposableStore();
    all.add(local.watch(ACTIVE));
    for (const machine of machines.all) all.add(this.#knownOf(machine).watch.watch(ACTIVE));
    return all;
  }

  /** Undefined for an id without a machine. Throws MACHINE_NOT_FOUND, and TASK_NOT_FOUND for what cannot be an id. */
  #placeOf(taskId: string): Place | undefined {
    const far = farIdOf(taskId);
    if (far === undefined) return undefined;
    knownTaskId(taskId);
    return { machine: this.#options.machines.get(far.machine), id: far.id };
  }

  async #at<T>(taskId: string, here: () => Promise<T>, there: (place: Place) => Promise<T>): Promise<T> {
    const place = this.#placeOf(taskId);
    if (place !== undefined) return there(place);
    try {
      return await here();
    } catch (error) {
      if (!isUnknown(error) || !TASK_ID_PATTERN.test(taskId)) throw error;
      return there(await this.#onlyPlace(taskId, error));
    }
  }

  /** The one machine that knows a task which this one does not. Throws `unknown` where none does. */
  async #onlyPlace(id: string, unknown: BridgeError): Promise<Place> {
    const { all } = this.#options.machines;
    const asked = await Promise.allSettled(all.map((machine) => this.#read({ machine, id }, GLANCE_MS)));
    const knows = all.filter((_, index) => asked[index]?.status === 'fulfilled');
    const [machine, other] = knows;
    if (machine !== undefined && other === undefined) return { machine, id };
    if (machine !== undefined)
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        `Several machines have the task ${id}.`,
        `Name the machine, as in ${knows.map(({ name }) => idOn(name, id)).join(' or ')}.`,
      );
    const silent = all.filter((_, index) => {
      const answer = asked[index];
      return answer?.status === 'rejected' && !isUnknown(answer.reason);
    });
    if (silent.length === 0) throw unknown;
    const words = silent.map((one) => `${one.name} (${cutWords(one, this.#options.clock.now())})`).join(', ');
    throw new BridgeError(
      'TASK_NOT_FOUND',
      `${unknown.message} These machines did not say: ${words}.`,
      unknown.next,
    );
  }

  async #read(place: Place, limitMs?: number): Promise<TaskRecord> {
    const { machine, id } = place;
    const known = this.#knownOf(machine).last.get(id);
    const timeoutMs = limitMs ?? (known === undefined ? CALL_MS / 2 : GLANCE_MS);
    try {
      const record = await call(machine, 'task.get', { task_id: id }, { repeats: true, timeoutMs });
      return this.#keep(place, record);
    } catch (error) {
      if (known === undefined || !isUnreachable(error)) throw error;
      return this.#asOf(place, known);
    }
  }

  async #act<K extends 'task.kill' | 'task.respond' | 'task.message'>(
    place: Place,
    what: string,
    name: K,
    args: LinkMethods[K]['args'],
    repeats: boolean,
  ): Promise<TaskRecord> {
    await this.#options.guard?.(what);
    return this.#keep(place, await call(place.machine, name, args, { repeats, timeoutMs: CALL_MS }));
  }

  /** What the machine lists, else what was read last of it, and why. Never rejects for the machine. */
  async #listOf(machine: Machine, query: TaskQuery, cursor?: string): Promise<Source> {
    const { name } = machine;
    const { last } = this.#knownOf(machine);
    const { status, purpose, delegated, limit = MAX_LISTED } = query;
    const args = { status, purpose, delegated, cursor, limit: Math.min(limit, MAX_LISTED) };
    try {
      const page = await call(machine, 'task.list', args, { repeats: true, timeoutMs: GLANCE_MS });
      const tasks = page.tasks.map((record) => this.#keep({ machine, id: record.task_id }, record));
      const unreadable = page.unreadable?.map((one) => ({ ...one, task_id: idOn(name, one.task_id) }));
      return { name, tasks, more: page.cursor !== undefined, unreadable };
    } catch (error) {
      const nowMs = this.#options.clock.now();
      const why = isUnreachable(error) ? cutWords(machine, nowMs) : oneLine(messageOf(error), 300);
      const reads = last.all().filter(({ record }) => fitsQuery(record, query));
      const from = cursor === undefined ? 0 : reads.findIndex(({ record }) => record.task_id === cursor) + 1;
      if (cursor !== undefined && from === 0)
        return { name, tasks: [], more: false, note: `${name}: ${why}.` };
      const tasks = reads.slice(from).map((read) => this.#asOf({ machine, id: read.record.task_id }, read));
      const shown =
        tasks.length === 0 ? 'Its tasks are not known' : 'Its tasks are shown as they were read last';
      return { name, tasks, more: false, note: `${name}: ${why}. ${shown}; what runs there runs on.` };
    }
  }

  /** Throws INTERNAL_ERROR for an answer about another task than was asked for. */
  #keep({ machine, id }: Place, record: TaskRecord): TaskRecord {
    if (record.task_id !== id)
      throw new BridgeError(
        'INTERNAL_ERROR',
        `${machine.name} was asked about ${id} and answered about another task.`,
        `\`claude-code-bridge machines doctor ${machine.name}\` shows what runs there.`,
      );
    this.#knownOf(machine).last.put(record, this.#options.clock.now());
    return recordFrom(machine, record);
  }

  #asOf(
    { machine }: Place,
    { record, atMs }: { readonly record: TaskRecord; readonly atMs: number },
  ): TaskRecord {
    const nowMs = this.#options.clock.now();
    const line = `${cutWords(machine, nowMs)}; as of ${timeWords(atMs, nowMs)}`;
    return { ...recordFrom(machine, record), line };
  }

  /** What the watch has read, in its words where that is not of now. */
  #shown(place: Place): TaskRecord | undefined {
    const { machine, id } = place;
    const known = this.#knownOf(machine).last.get(id);
    if (known === undefined) return undefined;
    const isFresh = machine.state.how !== 'unverifiable' && this.#options.clock.now() - known.atMs < FRESH_MS;
    // A final status never changes again.
    const isCertain = isFresh || isFinal(known.record.status);
    return isCertain ? recordFrom(machine, known.record) : this.#asOf(place, known);
  }

  #knownOf(machine: Machine): Known {
    const { name } = machine;
    let known = this.#known.get(name);
    if (known === undefined) {
      const last = new LastRead();
      const { clock } = this.#options;
      const watch = new MachineWatch({
        machine,
        clock,
        known: (id) => last.get(id)?.record,
        keep: (record) => last.put(record, clock.now()),
        changed: (id) => this.#changes.fire(idOn(name, id)),
        forget: (id) => last.delete(id),
      });
      known = { last, watch: this.#owned.add(watch) };
      this.#known.set(name, known);
    }
    return known;
  }
}

/** The answer, with ids of errors as they are here. Throws what the machine throws. */
async function call<K extends keyof LinkMethods>(
  machine: Machine,
  name: K,
  args: LinkMethods[K]['args'],
  request: LinkRequest,
): Promise<LinkMethods[K]['value']> {
  try {
    return await machine.call(name, args, request);
  } catch (error) {
    throw errorFrom(machine.name, error);
  }
}

/** Two names of one machine: the tasks are listed under the first. */
function withoutTwins(sources: readonly Source[], machines: readonly Machine[]): Source[] {
  const names = new Map<string, string>();
  return sources.map((source, index) => {
    const state = machines[index]?.state;
    if (state?.how !== 'live') return source;
    const first = names.get(state.far.state_id);
    names.set(state.far.state_id, first ?? source.name);
    if (first === undefined) return source;
    return { name: source.name, tasks: [], more: false, note: `${source.name} is ${first} by another name.` };
  });
}

function isUnknown(error: unknown): error is BridgeError {
  return error instanceof BridgeError && error.code === 'TASK_NOT_FOUND';
}

function isUnreachable(error: unknown): boolean {
  return error instanceof BridgeError && error.code === 'MACHINE_UNREACHABLE';
}
