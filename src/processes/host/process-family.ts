import { selectDescendants, selectMarked, type Family } from '../../os/choose-processes.js';
import type { MarkedProcess, ProcessInfo } from '../../os/process-info.js';
import { thisMachine, type ProcessSystem } from '../../os/process-system.js';
import { signalProcesses } from '../../os/send-signals.js';

/** A look at all processes serves every question asked within this: twenty processes are listed with one look. */
const LOOK_AGE_MS = 100;

/** Finds the processes that belong together, with one look at the machine for all who ask at the same time. */
export class ProcessFamilies {
  readonly #startedSince: string | undefined;
  readonly #nowMs: () => number;
  readonly #system: ProcessSystem;
  #look: { readonly atMs: number; readonly all: Promise<MarkedProcess[]> } | undefined;

  /** `startedSince` as in Family: the start of this process. */
  constructor(options: {
    readonly startedSince?: string | undefined;
    readonly nowMs: () => number;
    readonly system?: ProcessSystem;
  }) {
    this.#startedSince = options.startedSince;
    this.#nowMs = options.nowMs;
    this.#system = options.system ?? thisMachine;
  }

  /** All living members; `fresh` looks again. */
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

  /** The marks that living processes carry. */
  async livingMarks(): Promise<ReadonlySet<string>> {
    return new Set((await this.#all(true)).flatMap((one) => one.mark ?? []));
  }

  #all(fresh: boolean): Promise<MarkedProcess[]> {
    const nowMs = this.#nowMs();
    if (!fresh && this.#look !== undefined && nowMs - this.#look.atMs < LOOK_AGE_MS) return this.#look.all;
    const all = this.#system.source.markedTable(this.#startedSince);
    this.#look = { atMs: nowMs, all };
    return all;
  }
}
