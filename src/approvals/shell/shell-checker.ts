import { Worker } from 'node:worker_threads';
import { messageOf } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import { checkShellLine } from './check-shell-line.js';
import { READY, lineVerdictSchema, type LineRequest, type LineVerdict } from './line-verdict.js';
import type { PatternBases } from '../path-pattern.js';
import { realLookup } from '../path-lookup.js';
import { compileRules, type RuleRow } from '../user-rules.js';

/** Long enough for any line that a person would write; stops the check of a hostile one. */
const CHECK_LIMIT_MS = 1_000;
/** A thread starts within 100 ms, but takes longer on a busy machine. */
const START_LIMIT_MS = 10_000;
/** Bounds the queue; no working agent fills it. */
const MAX_WAITING = 50;
const MEMORY_LIMIT_MB = 256;

export interface ShellCheckerOptions {
  readonly rows: readonly RuleRow[];
  readonly bases: PatternBases;
  /** The built `check-worker.ts`; default: the one next to this file. */
  readonly workerFile?: URL | undefined;
}

/**
 * Checks shell lines in a worker thread, one after the other. Parsing and matching a hostile line may take very long or fail;
 * then the caller's event loop keeps running, and the verdict is to ask.
 */
export class ShellChecker implements Disposable {
  readonly #options: ShellCheckerOptions;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isDisposed = false;
  #stop: ((why: string) => void) | undefined;
  #thread: Worker | undefined;

  constructor(options: ShellCheckerOptions) {
    this.#options = options;
  }

  /** Never rejects: if the line cannot be checked, the verdict is to ask. */
  async check(request: LineRequest): Promise<LineVerdict> {
    const { rows, bases } = this.#options;
    // Without rules the line is not parsed.
    if (rows.length === 0) return checkShellLine(request, compileRules([], bases), realLookup);
    if (this.#waiting >= MAX_WAITING) return undecided(`${MAX_WAITING} other lines are already waiting`);
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
    if (this.#thread !== undefined) this.#leave(this.#thread);
  }

  #inThread(request: LineRequest): Promise<LineVerdict> {
    if (this.#isDisposed) return Promise.resolve(undecided('the task has ended'));
    const worker = (this.#thread ??= this.#startThread());
    worker.ref();
    return new Promise((resolve) => {
      const listening = new AbortController();
      const end = (verdict: LineVerdict): void => {
        clearTimeout(timer);
        listening.abort();
        this.#stop = undefined;
        worker.unref();
        resolve(verdict);
      };
      // What failed once is not asked again.
      const fail = (why: string): void => {
        this.#leave(worker);
        end(undecided(why));
      };
      let timer = setTimeout(() => fail('its thread did not start'), START_LIMIT_MS);
      this.#stop = fail;
      const onMessage = (message: unknown): void => {
        if (message === READY) {
          clearTimeout(timer);
          timer = setTimeout(() => fail('the check took longer than a second'), CHECK_LIMIT_MS);
          return;
        }
        const read = lineVerdictSchema.safeParse(message);
        if (read.success) end(read.data);
        else fail('its result cannot be read');
      };
      listen(worker, listening.signal, {
        message: onMessage,
        error: (error) => fail(messageOf(error)),
        exit: () => fail('its thread ended'),
      });
      worker.postMessage(request);
    });
  }

  /** It serves until it fails: to start one takes longer than to check a line. */
  #startThread(): Worker {
    const { rows, bases, workerFile } = this.#options;
    const worker = new Worker(workerFile ?? new URL('./check-worker.js', import.meta.url), {
      workerData: { rows, bases },
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_LIMIT_MB },
    });
    worker.on('error', () => this.#leave(worker));
    return worker;
  }

  #leave(worker: Worker): void {
    if (this.#thread === worker) this.#thread = undefined;
    void worker.terminate();
  }
}

interface ThreadListeners {
  readonly message: (message: unknown) => void;
  readonly error: (error: unknown) => void;
  readonly exit: () => void;
}

function listen(worker: Worker, signal: AbortSignal, { message, error, exit }: ThreadListeners): void {
  worker.on('message', message).on('error', error).on('exit', exit);
  signal.addEventListener('abort', () =>
    worker.off('message', message).off('error', error).off('exit', exit),
  );
}

function undecided(why: string): LineVerdict {
  return { verdict: 'ask', rule: 'no-rule', reason: `the line could not be checked: ${why}`, parts: [] };
}
