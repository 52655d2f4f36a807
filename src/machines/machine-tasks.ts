// Pure: tasks of this machine and of others, as one service.
import type { Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import { createSecret, farIdOf, idOn, TASK_ID_PATTERN } from '../base/ids.js';
import { DisposableStore, Emitter, type Disposable } from '../base/lifecycle.js';
import { knownTaskId } from '../mcp/known-task-id.js';
import type { DecisionAnswer, SentMessage } from '../tasks/task-host.js';
import type { Receipt } from '../tasks/receipt/receipt.js';
import type { TaskGuard } from '../tasks/task-refusals.js';
import type {
  OutputPage,
  OutputQuery,
  StartTask,
  TaskPage,
  TaskQuery,
  TaskService,
  TaskWait,
  WaitOutcome,
} from '../tasks/task-service.js';
import type { TaskRecord } from '../tasks/task.js';
import { waitForTasks } from '../tasks/watch/task-waiter.js';
import { FarTasks, GLANCE_MS, type FarAct } from './far-tasks.js';
import type { LinkMethods } from './link-protocol.js';
import { HERE, isLeft, mergedPage, placesIn, type Source } from './machine-lists.js';
import { ACTIVE } from './machine-watch.js';
import type { Machines } from './machine.js';

export interface MachineTasksOptions {
  readonly local: TaskService;
  readonly machines: Machines;
  readonly clock: Clock;
  /** As for tasks of this machine. */
  readonly guard?: TaskGuard | undefined;
}

interface Place {
  readonly far: FarTasks;
  /** As it is there. */
  readonly id: string;
}

/** Routes by the machine in the id of a task, as `gpu/task_…`. A bare id is of this machine, or of the only one that knows it. */
export class MachineTasks implements TaskService, Disposable {
  readonly #options: MachineTasksOptions;
  readonly #far: readonly FarTasks[];
  readonly #owned = new DisposableStore();
  readonly #changes = new Emitter<string>();
  readonly onDidChange = this.#changes.event;

  constructor(options: MachineTasksOptions) {
    const { local, machines, clock } = (this.#options = options);
    this.#owned.add(this.#changes);
    this.#owned.add(local.onDidChange((id) => this.#changes.fire(id)));
    this.#far = machines.all.map((machine) =>
      this.#owned.add(new FarTasks(machine, clock, (id) => this.#changes.fire(idOn(machine.name, id)))),
    );
  }

  dispose(): void {
    this.#owned.dispose();
  }

  /** Of this machine: a task elsewhere is started by the tool of that machine. */
  start(input: StartTask): Promise<TaskRecord> {
    return this.#options.local.start(input);
  }

  get(taskId: string): Promise<TaskRecord> {
    return this.#at(
      taskId,
      (local) => local.get(taskId),
      ({ far, id }) => far.get(id),
    );
  }

  /** With a path, of this machine alone: the same path is another project elsewhere. A machine that does not answer is named in a note. */
  async list(query: TaskQuery): Promise<TaskPage> {
    const { local } = this.#options;
    if (query.path !== undefined || query.native === true) return local.list(query);
    const places = placesIn(query.cursor);
    const here = async (): Promise<TaskPage> =>
      isLeft(places, HERE) ? local.list({ ...query, cursor: places.get(HERE) }) : { tasks: [] };
    const asked = this.#far.filter(({ name }) => isLeft(places, name));
    const [own, ...far] = await Promise.all([
      here(),
      ...asked.map((one) => one.list(query, places.get(one.name))),
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
    const isFar = (id: string): boolean => farIdOf(id) !== undefined;
    if (!query.taskIds.some(isFar)) {
      try {
        return await local.wait(query);
      } catch (error) {
        if (!isUnknown(error)) throw error;
      }
    }
    const named = query.taskIds.map(async (id) => (isFar(id) ? id : (await this.get(id)).task_id));
    const taskIds = [...new Set(await Promise.all(named))];
    const seen = new Set<string>();
    const get = async (id: string): Promise<TaskRecord> => {
      const place = seen.has(id) ? this.#placeOf(id) : undefined;
      seen.add(id);
      // After the first time, the watch has it.
      return place?.far.seen(place.id) ?? this.get(id);
    };
    const watch = (id: string): Disposable => this.watch(id);
    return waitForTasks({ ...query, taskIds }, { clock, get, watch, onDidChange: this.onDidChange });
  }

  kill(taskId: string, reason: string): Promise<TaskRecord> {
    return this.#at(
      taskId,
      (local) => local.kill(taskId, reason),
      (place) => this.#act(place, 'end tasks', 'task.kill', { task_id: place.id, reason }, false),
    );
  }

  respond(taskId: string, answer: DecisionAnswer): Promise<TaskRecord> {
    const { request_id = createSecret() } = answer;
    return this.#at(
      taskId,
      (local) => local.respond(taskId, answer),
      (place) =>
        this.#act(place, 'answer decisions', 'task.respond', { task_id: place.id, answer, request_id }),
    );
  }

  message(taskId: string, message: SentMessage): Promise<TaskRecord> {
    const { requestId: request_id = createSecret(), ...said } = message;
    return this.#at(
      taskId,
      (local) => local.message(taskId, message),
      (place) => this.#act(place, 'steer tasks', 'task.message', { task_id: place.id, ...said, request_id }),
    );
  }

  output({ taskId, ...query }: OutputQuery): Promise<OutputPage> {
    return this.#at(
      taskId,
      (local) => local.output({ taskId, ...query }),
      ({ far, id }) => far.output(id, query),
    );
  }

  /** The receipt of a task of another machine; undefined while it runs. */
  async receiptOf(taskId: string, signal: AbortSignal): Promise<Receipt | undefined> {
    const place = this.#placeOf(taskId);
    return place?.far.receiptOf(place.id, signal);
  }

  /** Of a machine, those that were read last; one that the prefix names is asked. */
  async taskIds(prefix: string): Promise<string[]> {
    const named = farIdOf(prefix)?.machine;
    await this.#far.find(({ name }) => name === named)?.list({});
    const here = named === undefined ? await this.#options.local.taskIds(prefix) : [];
    return [...here, ...this.#far.flatMap((far) => far.ids()).filter((id) => id.startsWith(prefix))];
  }

  watch(taskId: string): Disposable {
    const place = this.#placeOf(taskId);
    if (place !== undefined) return place.far.watch(place.id);
    const watches = new DisposableStore();
    watches.add(this.#options.local.watch(taskId));
    if (taskId === ACTIVE) for (const far of this.#far) watches.add(far.watch(ACTIVE));
    return watches;
  }

  /** Undefined for an id without a machine. Throws MACHINE_NOT_FOUND, and TASK_NOT_FOUND for what cannot be an id. */
  #placeOf(taskId: string): Place | undefined {
    const named = farIdOf(taskId);
    if (named === undefined) return undefined;
    knownTaskId(taskId);
    const { name } = this.#options.machines.get(named.machine);
    const far = this.#far.find((one) => one.name === name);
    return far && { far, id: named.id };
  }

  async #at<T>(
    taskId: string,
    here: (local: TaskService) => Promise<T>,
    there: (place: Place) => Promise<T>,
  ): Promise<T> {
    const place = this.#placeOf(taskId);
    if (place !== undefined) return there(place);
    try {
      return await here(this.#options.local);
    } catch (error) {
      if (!isUnknown(error) || !TASK_ID_PATTERN.test(taskId)) throw error;
      return there(await this.#onlyPlace(taskId, error));
    }
  }

  /** The one machine that knows a task which this one does not. Throws `unknown` where none does. */
  async #onlyPlace(id: string, unknown: BridgeError): Promise<Place> {
    const asked = await Promise.allSettled(this.#far.map((far) => far.get(id, GLANCE_MS)));
    const knows = this.#far.filter((_, index) => asked[index]?.status === 'fulfilled');
    const [far, other] = knows;
    if (far !== undefined && other === undefined) return { far, id };
    if (far !== undefined)
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        `Several machines have the task ${id}.`,
        `Name the machine, as in ${knows.map(({ name }) => idOn(name, id)).join(' or ')}.`,
      );
    const silent = this.#far.filter((_, index) => {
      const answer = asked[index];
      return answer?.status === 'rejected' && !isUnknown(answer.reason);
    });
    if (silent.length === 0) throw unknown;
    const words = silent.map(({ silence }) => silence).join(', ');
    throw new BridgeError(
      'TASK_NOT_FOUND',
      `${unknown.message} These machines did not say: ${words}.`,
      unknown.next,
    );
  }

  async #act<K extends FarAct>(
    { far }: Place,
    what: string,
    name: K,
    args: LinkMethods[K]['args'],
    repeats = true,
  ): Promise<TaskRecord> {
    await this.#options.guard?.(what);
    return far.act(name, args, repeats);
  }
}

/** Two names of one machine: the tasks are listed under the first. */
function withoutTwins(sources: readonly Source[], asked: readonly FarTasks[]): Source[] {
  const names = new Map<string, string>();
  return sources.map((source, index) => {
    const { name } = source;
    const state = asked[index]?.stateId;
    const first = state === undefined ? name : (names.get(state) ?? name);
    if (state !== undefined) names.set(state, first);
    if (first === name) return source;
    return { name, tasks: [], more: false, note: `${name} is ${first} by another name.` };
  });
}

function isUnknown(error: unknown): error is BridgeError {
  return error instanceof BridgeError && error.code === 'TASK_NOT_FOUND';
}
