import { Emitter, nextEvent } from '../base/event.js';
import { CheckIgnore, unasked } from './check-ignore.js';
import type { GitRun } from './git-listing.js';

/** Which of many paths a rule hides, in the order in which they were asked about. Starts git at once. */
export class IgnoredInOrder {
  readonly #git: CheckIgnore;
  readonly #came = new Emitter<void>();
  #open = 0;
  #answers: boolean[] = [];
  #taken = 0;
  #fault: Error | undefined;
  #isEnded = false;

  /** `onEnd` is called when that git has ended, however it did. */
  constructor(run: GitRun, onEnd?: () => void) {
    this.#git = new CheckIgnore(run, {
      inBlocks: true,
      judged: (isIgnored, path) => {
        if (this.#open === 0) throw unasked(path);
        this.#open--;
        this.#answers.push(isIgnored);
        this.#came.fire();
      },
      failed: (fault) => {
        this.#fault = fault;
        onEnd?.();
        this.#came.fire();
      },
    });
  }

  /** Asks about `names` in the folder (`''` or `a/b`). Resolves when more may be asked. The last answers come after `end`. */
  ask(folder: string, names: readonly string[]): Promise<void> {
    this.#open += names.length;
    return this.#git.ask(folder, names);
  }

  end(): void {
    this.#isEnded = true;
    this.#git.end();
  }

  /** Whether the next path is ignored; undefined as long as that is not known. */
  next(): boolean | undefined {
    const answer = this.#answers[this.#taken];
    if (answer !== undefined) this.#taken++;
    else if (this.#taken > 0) {
      this.#answers = [];
      this.#taken = 0;
    }
    return answer;
  }

  /** Resolves when `next` knows more. Throws GIT_FAILED. */
  async known(): Promise<void> {
    while (this.#taken === this.#answers.length) {
      if (this.#fault !== undefined) throw this.#fault;
      await nextEvent(this.#came.event);
    }
  }

  /** Resolves when nothing of it runs any more but a git that has nothing left to do. */
  async close(): Promise<void> {
    if (!this.#isEnded || this.#open > 0) await this.#git.close();
  }
}
