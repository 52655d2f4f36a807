import type { Clock } from '../../base/clock.js';
import { selectDescendants, selectMarked, type Family } from '../../os/choose-processes.js';
import type { MarkedProcess, ProcessInfo } from '../../os/process-info.js';
import { thisMachine, type ProcessSystem } from '../../os/process-system.js';
import { signalProcesses } from '../../os/send-signals.js';

/** A list of all processes is cached for this long, so that `ps` of twenty processes reads it once. */
const LIST_AGE_MS = 100;

/** Finds the processes that belong together; callers at the same time share one list. */
export class ProcessFamilies {
  readonly #startedSince: string | undefined;
  readonly #clock: Clock;
  readonly #system: ProcessSystem;
  #list: { readonly atMs: number; readonly all: Promise<MarkedProcess[]> } | undefined;

  /** `startedSince` as in Family: the start of this process. */
  constructor(clock: Clock, startedSince: string | undefined, system: ProcessSystem = thisMachine) {
    this.#clock = clock;
    this.#startedSince = startedSince;
    this.#system = system;
  }

  /** All living members; `fresh` lists again. */
  async members({ pid, mark }: Family, fresh = true): Promise<ProcessInfo[]> {
    const family = { pid, mark, startedSince: this.#startedSince };
    return selectDescendants(await this.#all(fresh), family, this.#system.self);
  }

  /** Signals the living members that `isMeant` names; true when one of them got it. */
  async signal(
    family: Family,
    name: NodeJS.Signals,
    isMeant: (one: ProcessInfo) => boolean,
  ): Promise<boolean> {
    const meant = (await this.members(family)).filter(isMeant);
    return (await signalProcesses(meant, [name], this.#system)).includes('sent');
  }

  /** Kills every process that carries one of the marks: those that left their group, too. */
  async killAll(marks: ReadonlySet<string>): Promise<void> {
    const chosen = selectMarked(await this.#all(true), marks, this.#system.self, this.#startedSince);
    await signalProcesses(chosen, ['SIGKILL'], this.#system);
  }

  #all(fresh: boolean): Promise<MarkedProcess[]> {
    const nowMs = this.#clock.monotonicMs();
    if (!fresh && this.#list !== undefined && nowMs - this.#list.atMs < LIST_AGE_MS) return this.#list.all;
    const all = this.#system.source.markedTable(this.#startedSince);
    this.#list = { atMs: nowMs, all };
    return all;
  }
}
