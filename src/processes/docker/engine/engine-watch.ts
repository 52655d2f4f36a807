// Pure.
import type { Clock } from '../../../base/clock.js';
import type { Disposable } from '../../../base/lifecycle.js';

/** The connections to an engine that died close; this poll is for an engine that no longer answers. */
const INTERVAL_MS = 10_000;
/** One late answer is no lost engine. */
const SILENT_LOOKS = 2;

/** What is looked after. */
export interface Watched {
  readonly containerId: string;
  /** Asks again how it is, and ends it if there is no answer. */
  recheck(): void;
}

export interface EngineWatchOptions {
  /** The ids of the containers that run; undefined when the engine does not answer soon. */
  readonly running: () => Promise<ReadonlySet<string> | undefined>;
  readonly clock: Clock;
  /** Removes what was left behind; true when nothing is left. */
  readonly sweep: () => Promise<boolean>;
}

/**
 * While containers run, asks the engine every ten seconds which do. One that the engine does not name twice, or an engine that
 * does not answer twice, makes the processes ask themselves: an answer that was waited for may be lost on its way, and
 * an engine that hangs closes nothing. Goes on after a loss until the engine is back and swept.
 */
export class EngineWatch implements Disposable {
  readonly #options: EngineWatchOptions;
  readonly #watched = new Map<Watched, number>();
  #silentLooks = 0;
  #isSweepDue = false;
  #timer: Disposable | undefined;
  #isDisposed = false;

  constructor(options: EngineWatchOptions) {
    this.#options = options;
  }

  add(watched: Watched): void {
    this.#watched.set(watched, 0);
    this.#schedule();
  }

  remove(watched: Watched): void {
    this.#watched.delete(watched);
    if (this.#watched.size > 0 || this.#isSweepDue) return;
    this.#timer?.dispose();
    this.#timer = undefined;
  }

  /** A container may have been left behind: sweeps as soon as the engine answers. */
  sweepLater(): void {
    this.#isSweepDue = true;
    this.#schedule();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#watched.clear();
    this.#timer?.dispose();
  }

  #schedule(): void {
    if (this.#isDisposed) return;
    this.#timer ??= this.#options.clock.after(INTERVAL_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    const running = await this.#options.running();
    if (running !== undefined) {
      this.#silentLooks = 0;
      this.#compare(running);
      if (this.#isSweepDue) this.#isSweepDue = !(await this.#options.sweep());
    } else if (++this.#silentLooks >= SILENT_LOOKS) {
      for (const one of [...this.#watched.keys()]) one.recheck();
    }
    this.#timer = undefined;
    if (this.#watched.size > 0 || this.#isSweepDue) this.#schedule();
  }

  #compare(running: ReadonlySet<string>): void {
    for (const [one, missed] of [...this.#watched]) {
      if (running.has(one.containerId)) this.#watched.set(one, 0);
      else if (missed + 1 < SILENT_LOOKS) this.#watched.set(one, missed + 1);
      else one.recheck();
    }
  }
}
