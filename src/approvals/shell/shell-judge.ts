import { Worker } from 'node:worker_threads';
import { messageOf } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import { judgeShellLine } from './judge-shell-line.js';
import { READY, lineVerdictSchema, type LineRequest, type LineVerdict } from './line-verdict.js';
import type { PatternPlaces } from '../path-pattern.js';
import { realPlaces } from '../places.js';
import { compileRules, type RuleRow } from '../user-rules.js';

/** Long enough for any line that a person would write; a hostile one is stopped then. */
const JUDGING_LIMIT_MS = 1_000;
/** A thread starts within 100 ms; beside much other work it takes longer. */
const START_LIMIT_MS = 10_000;
/** Lines that wait for their turn; more come from no agent that works. */
const MAX_WAITING = 50;
const MEMORY_LIMIT_MB = 256;

export interface ShellJudgeOptions {
  readonly rows: readonly RuleRow[];
  readonly places: PatternPlaces;
  /** The built `judge-worker.ts`; the one beside this file when left out. */
  readonly workerFile?: URL | undefined;
}

/**
 * Judges shell lines in a thread, one after the other. Parsing and matching a hostile line may take very long, or fail:
 * the caller's event loop goes on, and the line is asked about.
 */
export class ShellJudge implements Disposable {
  readonly #options: ShellJudgeOptions;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isDisposed = false;
  #stop: ((why: string) => void) | undefined;

  constructor(options: ShellJudgeOptions) {
    this.#options = options;
  }

  /** Never rejects: a line that could not be judged is one to ask about. */
  async judge(request: LineRequest): Promise<LineVerdict> {
    const { rows, places } = this.#options;
    // Without a rule nothing of the line is read.
    if (rows.length === 0) return judgeShellLine(request, compileRules([], places), realPlaces);
    if (this.#waiting >= MAX_WAITING) return undecided(`${MAX_WAITING} other lines wait to be judged`);
    this.#waiting++;
    const verdict = this.#last
      .then(() => this.#inThread(request))
      .catch((error: unknown) => undecided(messageOf(error)));
    this.#last = verdict;
    try {
      return await verdict;
    } finally {
      this.#waiting--;
    }
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#stop?.('the task has ended');
  }

  #inThread(request: LineRequest): Promise<LineVerdict> {
    if (this.#isDisposed) return Promise.resolve(undecided('the task has ended'));
    const { rows, places, workerFile } = this.#options;
    return new Promise((resolve) => {
      const worker = new Worker(workerFile ?? new URL('./judge-worker.js', import.meta.url), {
        workerData: { request, rows, places },
        env: {},
        resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MB },
      });
      let hasEnded = false;
      const end = (verdict: LineVerdict): void => {
        clearTimeout(timer);
        if (hasEnded) return;
        hasEnded = true;
        this.#stop = undefined;
        void worker.terminate();
        resolve(verdict);
      };
      const fail = (why: string): void => end(undecided(why));
      let timer = setTimeout(() => fail('the thread for it did not start'), START_LIMIT_MS);
      this.#stop = fail;
      worker.on('message', (message: unknown) => {
        if (message === READY) {
          clearTimeout(timer);
          timer = setTimeout(() => fail('it takes longer than a second'), JUDGING_LIMIT_MS);
          return;
        }
        const read = lineVerdictSchema.safeParse(message);
        if (read.success) end(read.data);
        else fail('its verdict cannot be read');
      });
      worker.once('error', (error) => fail(messageOf(error)));
      worker.once('exit', () => fail('the thread for it ended'));
    });
  }
}

function undecided(why: string): LineVerdict {
  return { verdict: 'ask', rule: 'no-rule', reason: `the line could not be judged: ${why}`, parts: [] };
}
