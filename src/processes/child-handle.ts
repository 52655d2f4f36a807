import { constants } from 'node:os';
import { withinMs, type Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import type { Child, TerminalSize } from '../pty/child.js';
import type { ExitStatus } from '../pty/exit-status.js';
import type { ProcessExit, ProcessHandle, ProcessSpec, ProcessStats } from './process-handle.js';

/** A pipe takes bytes at once, or fails when nothing reads it; what it has not taken by then stays queued. */
const WRITE_LIMIT_MS = 100;

/** What the processes of both backends do alike: they take input through a child of this program. */
export abstract class ChildHandle<S extends ProcessSpec = ProcessSpec> implements ProcessHandle {
  readonly spec: S;
  readonly exited: Promise<ProcessExit>;
  protected readonly clock: Clock;
  readonly #child: Child;
  #hasEnded = false;

  /** `ended` is the end as it is reported. */
  constructor(spec: S, child: Child, clock: Clock, ended: Promise<ExitStatus>) {
    this.spec = spec;
    this.clock = clock;
    this.#child = child;
    this.exited = ended.then((status) => {
      this.#hasEnded = true;
      return { outOfMemory: false, ...status, endedAt: new Date(clock.now()) };
    });
  }

  get status(): 'running' | 'terminated' {
    return this.#hasEnded ? 'terminated' : 'running';
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.mustRun();
    const result = this.#child.write(bytes);
    if (result === 'closed') throw inputClosed();
    if (result === 'full') {
      throw new BridgeError(
        'INPUT_REFUSED',
        'The process has left megabytes of its input unread, and no more is stored for it.',
        'Wait until it reads, or end it.',
      );
    }
    if ((await withinMs(this.clock, WRITE_LIMIT_MS, this.#child.flushed())) === false) throw inputClosed();
  }

  async endInput(): Promise<void> {
    if (this.spec.tty !== undefined) {
      throw new BridgeError(
        'NO_TERMINAL',
        'The input of a terminal was to be closed, and a terminal has no end to close.',
        'Send the key ctrl-d, which means the end of input to most programs.',
      );
    }
    this.mustRun();
    if (!this.#child.endInput()) throw inputClosed();
  }

  async resize(size: TerminalSize): Promise<void> {
    if (this.spec.tty === undefined) {
      throw new BridgeError(
        'NO_TERMINAL',
        'A process without a terminal was to be resized.',
        'Start it with tty to give it a terminal.',
      );
    }
    this.mustRun();
    await this.setSize(size);
  }

  abstract signal(name: NodeJS.Signals): Promise<void>;
  abstract kill(first: NodeJS.Signals): ReturnType<ProcessHandle['kill']>;
  abstract stats(): Promise<ProcessStats>;
  abstract dispose(): Promise<void>;

  protected setSize(size: TerminalSize): Promise<void> {
    return this.#child.resize(size);
  }

  /** Throws PROCESS_NOT_RUNNING. */
  protected mustRun(): void {
    if (this.#hasEnded || this.#child.isReaped) throw notRunning(this.spec.id);
  }

  /** The answer to a kill: the end, or that none came within this time. */
  protected async endWithin(limitMs: number, reason: string): Promise<ProcessExit> {
    const unseen = { outOfMemory: false, reason, endedAt: new Date(this.clock.now()) };
    return (await withinMs(this.clock, limitMs, this.exited)) ?? unseen;
  }
}

/** Throws INVALID_ARGUMENTS for a signal that does not exist on this system. */
export function signalNamed(name: string): NodeJS.Signals {
  if (isSignal(name)) return name;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `There is no signal ${JSON.stringify(name)} on this system.`,
    'Give a name such as SIGTERM, SIGINT or SIGKILL.',
  );
}

function isSignal(name: string): name is NodeJS.Signals {
  return Object.hasOwn(constants.signals, name);
}

/** The error of a call to a process that has ended. */
export function notRunning(id?: string): BridgeError {
  return new BridgeError(
    'PROCESS_NOT_RUNNING',
    `The process${id === undefined ? '' : ` ${id}`} has ended.`,
    'Its output can still be read; start it again if need be.',
  );
}

/** PROCESS_UNREACHABLE: the process runs, as far as is known, and its keeper does not answer. `why` completes "cannot be reached: …". */
export function processUnreachable(
  id: string,
  why: string,
  hint = 'kill still ends it; ps shows its state.',
): BridgeError {
  return new BridgeError('PROCESS_UNREACHABLE', `The process ${id} cannot be reached: ${why}.`, hint);
}

function inputClosed(): BridgeError {
  return new BridgeError(
    'INPUT_REFUSED',
    'The input of the process is closed.',
    'Start it again to give it input, or end it.',
  );
}
