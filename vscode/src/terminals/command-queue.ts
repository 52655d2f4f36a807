import { withinMs, type Clock } from '../../../src/base/clock.js';
import { Emitter, nextEvent, type Disposable } from '../../../src/base/lifecycle.js';
import type { EditorExecution } from '../../../src/editor/protocol.js';
import { deferred, type Deferred } from '../deferred.js';
import { EditorError } from '../editor-error.js';
import type { OutputBuffer } from './output-buffer.js';
import type { RunningCommand, ShellBackend } from './shell-backend.js';

/** Commands that wait for the one that runs. */
const MAX_QUEUED = 50;
/** A shell begins with a command at once; on a busy machine it takes a moment. */
const BEGIN_LIMIT_MS = 15_000;
/** Between one Ctrl-C and the next, and for the shell's prompt after it. */
const INTERRUPT_MS = 2_000;
const INTERRUPT_NOT_BEGUN_MS = 500;
const INTERRUPTS = 2;
const CTRL_C = '\u0003';

export interface CommandRequest {
  /** Of the request. */
  readonly id: string;
  readonly line: string;
  readonly timeoutMs: number;
  readonly ifBusy: 'queue' | 'refuse';
}

export interface QueuedCommand {
  /** When it runs; rejects when it never will. */
  readonly started: Promise<EditorExecution>;
  readonly ended: Promise<EditorExecution>;
}

interface Job {
  readonly request: CommandRequest;
  readonly started: Deferred<EditorExecution>;
  readonly ended: Deferred<EditorExecution>;
}

/** The commands of one terminal, one after the other: a second one would interrupt the first. */
export class CommandQueue implements Disposable {
  readonly #backend: ShellBackend;
  readonly #output: OutputBuffer;
  readonly #clock: Clock;
  readonly #waiting: Job[] = [];
  /** A command has begun or ended. */
  readonly #changes = new Emitter<void>();
  readonly #closed = deferred<never>();
  #isClosed = false;
  #current: Job | undefined;
  #execution: EditorExecution | undefined;

  constructor(backend: ShellBackend, output: OutputBuffer, clock: Clock) {
    this.#backend = backend;
    this.#output = output;
    this.#clock = clock;
    backend.onBusy(() => this.#changes.fire());
    // Not always somebody waits.
    this.#closed.promise.catch(() => undefined);
  }

  get length(): number {
    return this.#waiting.length;
  }

  get isBusy(): boolean {
    return this.#current !== undefined || this.#backend.isBusy;
  }

  /** The command that runs, or the last one. */
  get execution(): EditorExecution | undefined {
    return this.#execution?.state === 'running'
      ? { ...this.#execution, cursor: this.#output.end }
      : this.#execution;
  }

  /** Throws TERMINAL_BUSY and TOO_MANY. */
  add(request: CommandRequest): QueuedCommand {
    if (request.ifBusy === 'refuse' && (this.isBusy || this.length > 0)) {
      throw new EditorError(
        'TERMINAL_BUSY',
        'A command runs in this terminal.',
        'Leave out ifBusy: then the command waits.',
      );
    }
    if (this.length >= MAX_QUEUED)
      throw new EditorError('TOO_MANY', `${MAX_QUEUED} commands wait already.`, 'Send it later.');
    const job = { request, started: deferred<EditorExecution>(), ended: deferred<EditorExecution>() };
    // Not everybody waits for both.
    job.started.promise.catch(() => undefined);
    job.ended.promise.catch(() => undefined);
    this.#waiting.push(job);
    void this.#runNext();
    return { started: job.started.promise, ended: job.ended.promise };
  }

  /** Resolves when nothing runs and nothing waits; false after the limit. Throws TERMINAL_CLOSED. */
  idle(limitMs: number): Promise<boolean> {
    return this.#until(() => !this.isBusy && this.length === 0, limitMs);
  }

  dispose(): void {
    this.#isClosed = true;
    const error = new EditorError('TERMINAL_CLOSED', 'The terminal was closed.', 'Create another one.', {
      from: this.#execution?.from ?? this.#output.end,
      cursor: this.#output.end,
    });
    this.#closed.reject(error);
    for (const job of [...this.#waiting.splice(0), ...(this.#current === undefined ? [] : [this.#current])])
      fail(job, error);
  }

  async #runNext(): Promise<void> {
    if (this.#current !== undefined || this.#isClosed) return;
    const job = this.#waiting.shift();
    if (job === undefined) return;
    this.#current = job;
    try {
      await this.#run(job);
    } catch (error) {
      fail(job, error instanceof Error ? error : new Error(String(error)));
    }
    this.#current = undefined;
    void this.#runNext();
    this.#changes.fire();
  }

  async #run({ request, started, ended }: Job): Promise<void> {
    const { id, line, timeoutMs } = request;
    await this.#backend.ready();
    // While a command of the person runs.
    if (!(await this.#until(() => !this.#backend.isBusy, timeoutMs))) {
      throw new EditorError(
        'TERMINAL_BUSY',
        `Another command has run in this terminal for ${timeoutMs / 1000} s, so this one was not run.`,
        'See what it does with read_output, interrupt it with input "\\u0003", or create another terminal: of a line with an error in its syntax the editor may report no end.',
      );
    }
    const from = this.#output.end;
    this.#execution = { id, state: 'running', exitCode: null, timedOut: false, from, cursor: from };
    const command = this.#backend.run(line);
    started.resolve(this.#execution);
    const { exitCode, why } = await this.#outcome(command, timeoutMs);
    const cursor = this.#output.end;
    this.#execution = { ...this.#execution, state: 'ended', exitCode, timedOut: why === 'timeout', cursor };
    if (why !== 'not begun') return ended.resolve(this.#execution);
    throw new EditorError(
      'NOT_STARTED',
      `The shell has not begun with the command within ${BEGIN_LIMIT_MS / 1000} s, and was interrupted.`,
      'It may be incomplete, or wrong in its syntax.',
      { from, cursor },
    );
  }

  async #outcome(command: RunningCommand, timeoutMs: number): Promise<Outcome> {
    const deadline = this.#clock.monotonicMs() + timeoutMs;
    const ended = command.ended.then((exitCode) => ({ exitCode: exitCode ?? null }));
    const beginning = Promise.race([command.begun, ended]).then(() => true);
    const hasBegun = (await this.#within(Math.min(timeoutMs, BEGIN_LIMIT_MS), beginning)) ?? false;
    const why = hasBegun || timeoutMs < BEGIN_LIMIT_MS ? 'timeout' : 'not begun';
    if (hasBegun) {
      const end = await this.#within(deadline - this.#clock.monotonicMs(), ended);
      if (end !== undefined) return { ...end, why: 'end' };
    }
    for (let tries = INTERRUPTS; tries > 0; tries--) {
      this.#backend.type(CTRL_C);
      const end = await this.#within(hasBegun ? INTERRUPT_MS : INTERRUPT_NOT_BEGUN_MS, ended);
      if (end !== undefined) return { ...end, why };
    }
    command.abandon();
    return { exitCode: null, why };
  }

  /** False after the limit. Throws TERMINAL_CLOSED. */
  async #until(isSo: () => boolean, limitMs: number): Promise<boolean> {
    const becomesSo = (): Promise<true> => nextEvent(this.#changes.event, isSo).then(() => true);
    const isDone = isSo() || (await this.#within(limitMs, becomesSo())) === true;
    if (this.#isClosed) await this.#closed.promise;
    return isDone;
  }

  /** Throws TERMINAL_CLOSED when the terminal goes first. */
  #within<T>(limitMs: number, promise: Promise<T>): Promise<T | undefined> {
    return withinMs(this.#clock, limitMs, Promise.race([this.#closed.promise, promise]));
  }
}

function fail(job: Job, error: Error): void {
  job.started.reject(error);
  job.ended.reject(error);
}

interface Outcome {
  readonly exitCode: number | null;
  readonly why: 'end' | 'timeout' | 'not begun';
}
