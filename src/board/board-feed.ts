import { dirname } from 'node:path';
import { BridgeError, ignoreBridgeError, messageOf } from '../base/errors.js';
import { farIdOf } from '../base/ids.js';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import { leftWith, refresher } from '../base/refresher.js';
import type { MachineTasks } from '../machines/machine-tasks.js';
import { historyWords } from '../tasks/history/task-history.js';
import { isFinal, type TaskRecord } from '../tasks/task.js';
import type { Put } from './channel.js';
import type { FeedOptions } from './feed.js';
import { ShownMachine } from './shown-machine.js';
import type { Values } from './state.js';
import { cardOf, decisionViewOf } from './task-views.js';

/** The newest tasks; more than a person looks through. */
const MAX_TASKS = 500;
/** Of all tasks of other machines, as JSON: 500 have some 2 MB. */
const MAX_FAR_CHARS = 24 * 1024 * 1024;

export interface BoardFeedOptions extends FeedOptions {
  /** `tasks`, with those of other machines; left out where no machine is set. */
  readonly far?: MachineTasks | undefined;
}

/** Shows every task of this state directory, whoever started it: each writer of a record, and who removes a task, notes it in one folder; and those of other machines. */
export async function openBoardFeed(options: BoardFeedOptions, put: Put): Promise<Disposable> {
  const { tasks, clock, far } = options;
  const owned = new DisposableStore();
  const overview = new Overview(options, put);
  const show = (): void => {
    if (!owned.isDisposed) overview.put();
  };
  const reader = (): ((taskId: string) => void) => {
    const stale = new Set<string>();
    const again = refresher(clock, leftWith(owned), async () => {
      const ids = [...stale];
      stale.clear();
      await Promise.all(ids.map((taskId) => overview.read(taskId)));
      show();
    });
    return (taskId) => {
      stale.add(taskId);
      again();
    };
  };
  /** By machine: one that is slow holds up no other. */
  const readers = new Map<string, (taskId: string) => void>();
  owned.add(
    tasks.onDidChange((taskId) => {
      const machine = farIdOf(taskId)?.machine ?? '';
      const read = readers.get(machine) ?? reader();
      readers.set(machine, read);
      read(taskId);
    }),
  );
  for (const { machine } of far?.far ?? []) owned.add(machine.onState(show));
  if (far !== undefined) owned.add(far.onReached((name) => void overview.readMachine(name).then(show)));
  owned.add(tasks.watch('active'));
  try {
    await overview.readAll();
  } catch (error) {
    owned.dispose();
    throw error;
  }
  return owned;
}

class Overview {
  readonly #options: BoardFeedOptions;
  readonly #put: Put;
  /** What is shown of each task. */
  readonly #shown = new Map<string, Values>();
  readonly #ended = new Set<string>();
  readonly #machines: ReadonlyMap<string, ShownMachine>;
  /** Of each other machine, the tasks that were read since it was last listed. */
  readonly #read: ReadonlyMap<string, Set<string>>;
  /** How much is shown of each task of another machine. */
  readonly #farChars = new Map<string, number>();
  #history: string | null = null;

  constructor(options: BoardFeedOptions, put: Put) {
    this.#options = options;
    const { far, clock } = options;
    this.#machines = new Map(far?.far.map((one) => [one.name, new ShownMachine(one, clock)]));
    this.#read = new Map(far?.far.map(({ name }) => [name, new Set()]));
    this.#put = put;
  }

  async readAll(): Promise<void> {
    for (const purpose of ['task', 'ask'] as const) {
      const { tasks, far } = this.#options;
      // Others may be slow; they say when they can be read.
      const page = await (far?.local ?? tasks).list({ limit: MAX_TASKS, purpose });
      for (const record of page.tasks) this.#take(record);
      for (const { task_id, why } of page.unreadable ?? []) this.#unreadable(task_id, why);
    }
    await this.#readHistory();
    this.put();
  }

  /** Never rejects. */
  async readMachine(name: string): Promise<void> {
    this.#read.get(name)?.clear();
    const listed = await this.#machines.get(name)?.list(MAX_TASKS);
    if (listed === undefined) return;
    // What was read meanwhile is newer.
    const read = this.#read.get(name);
    for (const record of listed.tasks) if (read?.has(record.task_id) !== true) this.#take(record);
    for (const { task_id, why } of listed.unreadable) this.#unreadable(task_id, why);
    const ids = new Set([...listed.tasks, ...listed.unreadable].map(({ task_id }) => task_id));
    const others = [...this.#shown.keys()].filter((id) => farIdOf(id)?.machine === name && !ids.has(id));
    await Promise.all(others.map((id) => this.read(id)));
  }

  /** Never rejects. */
  async read(taskId: string): Promise<void> {
    const { tasks, logger } = this.#options;
    try {
      this.#take(await tasks.get(taskId));
      this.#read.get(farIdOf(taskId)?.machine ?? '')?.add(taskId);
    } catch (error) {
      if (!(error instanceof BridgeError))
        logger.error('A task could not be read', { taskId, error: messageOf(error) });
      else if (error.code !== 'TASK_NOT_FOUND') this.#unreadable(taskId, error.message);
      else if (this.#shown.delete(taskId)) await this.#readHistory();
    }
  }

  put(): void {
    const values = [...this.#shown.values()].flatMap((shown) => [...shown]);
    const machines = [...this.#machines].map(([name, { view }]) => [`machine/${name}`, view] as const);
    this.#put(new Map<string, unknown>([...values, ...machines, ['history', this.#history]]));
  }

  #take(record: TaskRecord): void {
    const { task_id: taskId, status, decisions } = record;
    // A record that was read before the end may arrive after it.
    if (this.#ended.has(taskId) && !isFinal(status)) return;
    if (isFinal(status)) this.#ended.add(taskId);
    const open = decisions.filter(({ closed_at }) => closed_at === null);
    const values = new Map<string, unknown>([
      [`task/${taskId}`, cardOf(record)],
      ...open.map((one) => [`decision/${taskId}/${one.decision_id}`, decisionViewOf(taskId, one)] as const),
    ]);
    if (farIdOf(taskId) === undefined || this.#fits(taskId, values)) this.#shown.set(taskId, values);
    else this.#unreadable(taskId, 'Its machine has sent more than this board holds of others.');
  }

  /** Of other machines no more is held than of this one. */
  #fits(taskId: string, values: Values): boolean {
    this.#farChars.set(taskId, JSON.stringify([...values]).length);
    const chars = [...this.#farChars.values()].reduce((sum, one) => sum + one, 0);
    if (chars > MAX_FAR_CHARS) this.#farChars.delete(taskId);
    return chars <= MAX_FAR_CHARS;
  }

  /** Its card stays as it was. */
  #unreadable(taskId: string, why: string): void {
    this.#shown.set(taskId, new Map([...(this.#shown.get(taskId) ?? []), [`unreadable/${taskId}`, why]]));
  }

  /** What was removed from the history, where something was; one that cannot be read says nothing. */
  async #readHistory(): Promise<void> {
    this.#history = (await historyWords(dirname(this.#options.tasksDir)).catch(ignoreBridgeError)) ?? null;
  }
}
