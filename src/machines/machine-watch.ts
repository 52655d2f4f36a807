// Pure: follows tasks of one machine while somebody here does.
import { sleep, type Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import { toDisposable, type Disposable } from '../base/lifecycle.js';
import { isFinal, type TaskRecord } from '../tasks/task.js';
import { WaitCursor } from '../tasks/watch/task-waiter.js';
import { errorFrom } from './far-records.js';
import type { LinkMethods } from './link-protocol.js';
import type { Machine } from './machine.js';

/** What `watch` is given for all active tasks. */
export const ACTIVE = 'active';
/** A status and a decision come at once; what else changes, such as the log, is seen so late. */
const POLL_MS = 3_000;
const ANSWER_MS = 10_000;
/** Between two rounds: a far side that answers at once each time costs no more. */
const PAUSE_MS = 100;
/** As the protocol takes them. */
const MAX_IDS = 20;
const MAX_ACTIVE = 100;

export interface MachineWatchOptions {
  readonly machine: Machine;
  readonly clock: Clock;
  /** The record as it is on the machine, as far as it was read. */
  readonly known: (id: string) => TaskRecord | undefined;
  /** Takes a record as it came. */
  readonly keep: (record: TaskRecord) => void;
  /** The id of a task there that can be read otherwise than before. */
  readonly changed: (id: string) => void;
  /** Of a task that is no longer there. */
  readonly forget: (id: string) => void;
}

/** The tasks of one machine that somebody here follows, by their ids there. Nothing is asked while nobody does. */
export class MachineWatch implements Disposable {
  readonly #options: MachineWatchOptions;
  readonly #counts = new Map<string, number>();
  readonly #line: Disposable;
  #active: ReadonlySet<string> | undefined;
  #round = new AbortController();
  #runs = false;

  constructor(options: MachineWatchOptions) {
    this.#options = options;
    this.#line = options.machine.onState(({ how }) => {
      for (const id of this.#counts.keys()) if (id !== ACTIVE) options.changed(id);
      // What happened meanwhile is asked for at once.
      if (how === 'live') this.#round.abort();
    });
  }

  /** Follows a task, or all that are `active`, until disposed. */
  watch(id: string): Disposable {
    this.#counts.set(id, 1 + (this.#counts.get(id) ?? 0));
    this.#round.abort();
    if (!this.#runs) void this.#run();
    return toDisposable(() => {
      const left = (this.#counts.get(id) ?? 0) - 1;
      if (left > 0) this.#counts.set(id, left);
      else this.#counts.delete(id);
      if (this.#counts.size === 0) this.#round.abort();
    });
  }

  dispose(): void {
    this.#counts.clear();
    this.#line.dispose();
    this.#round.abort();
  }

  async #run(): Promise<void> {
    this.#runs = true;
    while (this.#counts.size > 0) {
      this.#round = new AbortController();
      const { signal } = this.#round;
      // Who reads the task gets the reason; the next round asks again.
      await this.#look(signal).catch(() => sleep(this.#options.clock, POLL_MS, signal));
      await sleep(this.#options.clock, PAUSE_MS);
    }
    this.#active = undefined;
    this.#runs = false;
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { known, clock } = this.#options;
    const ids = [...this.#counts.keys()].filter((id) => id !== ACTIVE && !isOver(known(id)));
    const waits: Promise<unknown>[] = [];
    for (let from = 0; from < ids.length; from += MAX_IDS)
      waits.push(this.#wait(ids.slice(from, from + MAX_IDS), signal));
    if (waits.length === 0) waits.push(sleep(clock, POLL_MS, signal));
    if (this.#counts.has(ACTIVE)) await this.#list(signal);
    await Promise.all(waits);
  }

  async #wait(ids: readonly string[], signal: AbortSignal): Promise<void> {
    const { known, forget, changed } = this.#options;
    const cursor = WaitCursor.of(ids.flatMap((id) => known(id) ?? []));
    const args = { task_ids: [...ids], timeout_ms: POLL_MS, cursor };
    try {
      const { tasks } = await this.#call('task.wait', args, signal);
      this.#take(tasks.filter(({ task_id }) => ids.includes(task_id)));
    } catch (error) {
      if (!(error instanceof BridgeError) || error.code !== 'TASK_NOT_FOUND') throw error;
      // Which one is gone, its reader learns.
      for (const id of ids) forget(id);
      for (const id of ids) changed(id);
      throw error;
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { changed } = this.#options;
    const { tasks } = await this.#call('task.list', { status: 'active', limit: MAX_ACTIVE }, signal);
    const before = this.#active ?? new Set(tasks.map(({ task_id }) => task_id));
    this.#active = new Set(tasks.map(({ task_id }) => task_id));
    this.#take(tasks, before);
    for (const id of before) if (!this.#active.has(id)) changed(id);
  }

  /** `seen`: those that are no news by being there. */
  #take(tasks: readonly TaskRecord[], seen?: ReadonlySet<string>): void {
    const { known, keep, changed } = this.#options;
    for (const record of tasks) {
      const before = known(record.task_id);
      keep(record);
      const isNews = before === undefined ? seen?.has(record.task_id) !== true : differs(before, record);
      if (isNews) changed(record.task_id);
    }
  }

  async #call<K extends 'task.wait' | 'task.list'>(
    name: K,
    args: LinkMethods[K]['args'],
    signal: AbortSignal,
  ): Promise<LinkMethods[K]['value']> {
    const { machine } = this.#options;
    try {
      return await machine.call(name, args, { signal, timeoutMs: POLL_MS + ANSWER_MS, repeats: true });
    } catch (error) {
      throw errorFrom(machine.name, error);
    }
  }
}

/** A final status never changes again. */
function isOver(record: TaskRecord | undefined): boolean {
  return record !== undefined && isFinal(record.status);
}

/** In more than the time that passes. */
function differs(one: TaskRecord, other: TaskRecord): boolean {
  const [a, b] = [one, other].map((record) => JSON.stringify({ ...record, elapsed_seconds: 0 }));
  return a !== b;
}
