// Tasks of this machine and of others, as one service.
import type { Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import { farIdOf, idOn, TASK_ID_PATTERN } from '../base/ids.js';
import { DisposableStore, Emitter, type Disposable } from '../base/lifecycle.js';
import { knownTaskId } from '../mcp/known-task-id.js';
import type { DecisionAnswer, SentMessage } from '../tasks/task-host.js';
import type { ReceiptService } from '../tasks/receipt/task-receipts.js';
import type { FinishedTask, FinishTask, TaskFinisher } from '../tasks/task-finisher.js';
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
import { needsMachine } from './far-records.js';
import { FarTasks, GLANCE_MS, type StartLimits } from './far-tasks.js';
import { HERE, isLeft, mergedPage, placesIn, type Source } from './machine-lists.js';
import { ACTIVE } from './machine-watch.js';
import type { Machines } from './machine.js';

export interface MachineTasksOptions {
  readonly local: TaskService;
  readonly machines: Machines;
  readonly clock: Clock;
  /** For what is started elsewhere. */
  readonly limits: StartLimits;
  /** As for tasks of this machine. */
  readonly guard?: TaskGuard | undefined;
}

/** Where a task of another machine is. */
export interface FarPlace {
  readonly far: FarTasks;
  /** As it is there. */
  readonly id: string;
}

/** Routes by the machine in the id of a task, as `gpu/task_…`. A bare id is of this machine; to read, also of the only other one that knows it. */
export class MachineTasks implements TaskService, Disposable {
  readonly #options: MachineTasksOptions;
  readonly #far: readonly FarTasks[];
  readonly #owned = new DisposableStore();
  readonly #changes = new Emitter<string>();
  readonly onDidChange = this.#changes.event;
  readonly #reached = new Emitter<string>();
  /** The name of a machine whose tasks are all followed from now on: what happened before is to be read. */
  readonly onReached = this.#reached.event;

  constructor(options: MachineTasksOptions) {
    const { local, machines, clock } = (this.#options = options);
    this.#owned.add(this.#changes);
    this.#owned.add(local.onDidChange((id) => this.#changes.fire(id)));
    this.#far = machines.all.map((machine) =>
      this.#owned.add(
        new FarTasks({
          ...{ machine, clock },
          changed: (id) => this.#changes.fire(idOn(machine.name, id)),
          reached: () => this.#reached.fire(machine.name),
        }),
      ),
    );
  }

  dispose(): void {
    this.#owned.dispose();
  }

  /** The tasks of this machine alone. */
  get local(): TaskService {
    return this.#options.local;
  }

  get far(): readonly FarTasks[] {
    return this.#far;
  }

  /** On the machine that is named, or that has the task which goes on. Throws MACHINE_NOT_FOUND, too. */
  async start({ machine, ...input }: StartTask): Promise<TaskRecord> {
    const { local, limits, guard } = this.#options;
    const name = machine ?? farIdOf(input.continueFrom ?? '')?.machine;
    if (name === undefined) return local.start(input);
    await guard?.('start tasks');
    return this.#farOf(name).start(input, limits);
  }

  /** As the machine does it that has the task, with `finish` of this one. */
  async finish(query: FinishTask, here: Pick<TaskFinisher, 'finish'>): Promise<FinishedTask> {
    const place = this.placeOf(query.taskId);
    return place === undefined ? here.finish(query) : place.far.finish(place.id, query);
  }

  get(taskId: string): Promise<TaskRecord> {
    return this.#at(taskId, (tasks, id) => tasks.get(id));
  }

  /** With a path, of this machine alone: the same path is another project elsewhere. A machine that does not answer is named in a note. */
  async list(query: TaskQuery): Promise<TaskPage> {
    const { local } = this.#options;
    if (query.path !== undefined || query.native === true || query.isHere === true) return local.list(query);
    const places = placesIn(query.cursor);
    const here = async (): Promise<TaskPage> =>
      isLeft(places, HERE) ? local.list({ ...query, cursor: places.get(HERE) }) : { tasks: [] };
    const asked = this.#far.filter(({ name }) => isLeft(places, name));
    const [own, ...far] = await Promise.all([
      here(),
      ...asked.map((one) => one.list(query, places.get(one.name))),
    ]);
    const first: Source = { name: HERE, tasks: own.tasks, more: own.cursor !== undefined };
    const sources = [first, ...far];
    const notes = [...sources.flatMap(({ note }) => note ?? []), ...twinNotes(asked)];
    const unreadable = [own, ...sources].flatMap((source) => source.unreadable ?? []);
    const page = mergedPage(sources, places, query.limit);
    const tasks = onceEach(page.tasks);
    return { ...own, cursor: undefined, unreadable, ...(notes.length > 0 && { notes }), ...page, tasks };
  }

  /** A line that is cut meanwhile ends no wait: its tasks are shown as they were read last. */
  async wait(query: TaskWait): Promise<WaitOutcome> {
    const { local, clock } = this.#options;
    const named = query.taskIds.map(async (id) => (farIdOf(id) ? id : (await this.get(id)).task_id));
    const taskIds = [...new Set(await Promise.all(named))];
    const get = async (id: string): Promise<TaskRecord> => {
      const place = this.placeOf(id);
      return place === undefined ? local.get(id) : place.far.seen(place.id);
    };
    const watch = (id: string): Disposable => this.watch(id);
    return waitForTasks({ ...query, taskIds }, { clock, get, watch, onDidChange: this.onDidChange });
  }

  kill(taskId: string, reason: string): Promise<TaskRecord> {
    return this.#at(taskId, (tasks, id) => tasks.kill(id, reason), 'end tasks');
  }

  respond(taskId: string, answer: DecisionAnswer): Promise<TaskRecord> {
    return this.#at(taskId, (tasks, id) => tasks.respond(id, answer), 'answer decisions');
  }

  message(taskId: string, message: SentMessage): Promise<TaskRecord> {
    return this.#at(taskId, (tasks, id) => tasks.message(id, message), 'steer tasks');
  }

  output(query: OutputQuery): Promise<OutputPage> {
    return this.#at(query.taskId, (tasks, taskId) => tasks.output({ ...query, taskId }));
  }

  /** The receipts of all tasks, with `here` those of this machine. */
  receiptsWith(here: ReceiptService): ReceiptService {
    return {
      receiptOf: async (record, signal) => {
        const place = this.placeOf(record.task_id);
        if (place === undefined) return here.receiptOf(record, signal);
        return place.far.receiptOf(place.id, signal);
      },
    };
  }

  /** Of a machine, those that were read last; one that the prefix names is asked. */
  async taskIds(prefix: string): Promise<string[]> {
    const named = farIdOf(prefix)?.machine;
    await this.#far.find(({ name }) => name === named)?.list({});
    const here = named === undefined ? await this.#options.local.taskIds(prefix) : [];
    return [...here, ...this.#far.flatMap((far) => far.ids()).filter((id) => id.startsWith(prefix))];
  }

  watch(taskId: string): Disposable {
    const place = this.placeOf(taskId);
    if (place !== undefined) return place.far.watch(place.id);
    const watches = new DisposableStore();
    watches.add(this.#options.local.watch(taskId));
    if (taskId === ACTIVE) for (const far of this.#far) watches.add(far.watch(ACTIVE));
    return watches;
  }

  /** Undefined for an id without a machine. Throws MACHINE_NOT_FOUND, and TASK_NOT_FOUND for what cannot be an id. */
  placeOf(taskId: string): FarPlace | undefined {
    const named = farIdOf(taskId);
    if (named === undefined) return undefined;
    knownTaskId(taskId);
    return { far: this.#farOf(named.machine), id: named.id };
  }

  #farOf(name: string): FarTasks {
    const machine = this.#options.machines.get(name);
    const far = this.#far.find((one) => one.machine === machine);
    if (far === undefined) throw new Error(`${name} is no machine of the settings`);
    return far;
  }

  /** `what`: what is done to a task elsewhere, where it is more than read. That needs the machine: any may say that it knows a bare id. */
  async #at<T>(
    taskId: string,
    act: (
      tasks: Pick<TaskService, 'get' | 'kill' | 'respond' | 'message' | 'output'>,
      id: string,
    ) => Promise<T>,
    what?: string,
  ): Promise<T> {
    let place = this.placeOf(taskId);
    try {
      if (place === undefined) return await act(this.#options.local, taskId);
    } catch (error) {
      if (!isUnknown(error) || !TASK_ID_PATTERN.test(taskId)) throw error;
      place = await this.#onlyPlace(taskId, error);
      if (what !== undefined) throw needsMachine(idOn(place.far.name, place.id));
    }
    if (what !== undefined) await this.#options.guard?.(what);
    return act(place.far, place.id);
  }

  /** The one machine that knows a task which this one does not. Throws `unknown` where none does. */
  async #onlyPlace(id: string, unknown: BridgeError): Promise<FarPlace> {
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
}

/** Two names of one machine, as far as they say so themselves. */
function twinNotes(machines: readonly FarTasks[]): string[] {
  const names = new Map<string, string>();
  return machines.flatMap(({ name, stateId }) => {
    const first = stateId && names.get(stateId);
    if (stateId !== undefined && first === undefined) names.set(stateId, name);
    return first ? [`${name} may be ${first} by another name: both name the same state directory.`] : [];
  });
}

/** A task of two names of one machine once. Its mark is random and secret, so no machine can pass a task of its own off as that of another. */
function onceEach(tasks: readonly TaskRecord[]): TaskRecord[] {
  const keyOf = ({ task_id, process_mark }: TaskRecord): string =>
    `${farIdOf(task_id)?.id ?? task_id} ${process_mark}`;
  const seen = new Map<string, TaskRecord>();
  for (const task of tasks) if (!seen.has(keyOf(task))) seen.set(keyOf(task), task);
  return [...seen.values()];
}

function isUnknown(error: unknown): error is BridgeError {
  return error instanceof BridgeError && error.code === 'TASK_NOT_FOUND';
}
