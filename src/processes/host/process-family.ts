import { systemCodeOf } from '../../base/errors.js';
import { selectDescendants } from '../../pty/descendants.js';
import { listAllMarked, type MarkedProcess, type ProcessInfo } from '../../pty/list-processes.js';

/** A look at all processes serves every question asked within this: twenty processes are listed with one look. */
const LOOK_AGE_MS = 100;

/** By what the processes of one spawn are known. */
export interface Family {
  /** The first process: its session and process group. */
  readonly pid: number;
  /** The secret in the environment of each. */
  readonly mark: string;
}

/** Finds the processes that belong together, with one look at the machine for all who ask at the same time. */
export class ProcessFamilies {
  readonly #startedSince: string | undefined;
  readonly #nowMs: () => number;
  #look: { readonly atMs: number; readonly all: Promise<MarkedProcess[]> } | undefined;

  /** `startedSince` as in ProcessQuery: the start of this process. */
  constructor({ startedSince, nowMs }: { startedSince?: string | undefined; nowMs: () => number }) {
    this.#startedSince = startedSince;
    this.#nowMs = nowMs;
  }

  /** All living members; `fresh` looks anew. */
  async members({ pid, mark }: Family, fresh = true): Promise<ProcessInfo[]> {
    const all = await this.#all(fresh);
    return selectDescendants(
      all.map((one) => ({ ...one, isMarked: one.mark === mark })),
      pid,
      process.pid,
    );
  }

  /** Kills every process that carries one of the marks: those that left their group, too. */
  async killAll(marks: ReadonlySet<string>): Promise<void> {
    for (const one of await this.#all(true))
      if (one.mark !== undefined && marks.has(one.mark)) sendSignal(one.pid, 'SIGKILL');
  }

  /** The marks that living processes carry. */
  async livingMarks(): Promise<ReadonlySet<string>> {
    return new Set((await this.#all(true)).flatMap((one) => one.mark ?? []));
  }

  #all(fresh: boolean): Promise<MarkedProcess[]> {
    const nowMs = this.#nowMs();
    if (!fresh && this.#look !== undefined && nowMs - this.#look.atMs < LOOK_AGE_MS) return this.#look.all;
    const all = listAllMarked({ startedSince: this.#startedSince });
    this.#look = { atMs: nowMs, all };
    return all;
  }
}

/** False when no process has that number, or it may not be signalled. */
export function sendSignal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code !== 'ESRCH' && code !== 'EPERM') throw thrown;
    return false;
  }
}
