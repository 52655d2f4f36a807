import { BridgeError } from '../../base/errors.js';
import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { withinMs, type Clock } from '../../base/clock.js';
import type { Pid } from '../../os/pid.js';
import { signalChildGroup } from '../../os/send-signals.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { OutputSink, OutputStream } from '../process-backend.js';
import { endOfStatus, type ProcessEnd } from '../process-handle.js';
import type { HostChannel } from './host-channel.js';

/** Unread input is not kept beyond this: a program that never reads must not fill the memory. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** A pipe takes bytes at once, or tells that nobody reads; what it does not take by then waits in line. */
const WRITE_LIMIT_MS = 100;
/** What a process printed is read within milliseconds of its end. If nothing more comes, and its pipes are open, another holds them. */
const QUIET_AFTER_END_MS = 250;
/** Who holds the pipes and prints on does not hold up the end for longer. */
const OPEN_AFTER_END_MS = 2_000;

const HELD_OPEN = 'A process that it left behind still holds its output open; what that prints is kept, too.';

export interface PipeChannelOptions {
  readonly child: ChildProcess;
  readonly pid: Pid;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly sink: OutputSink;
  readonly clock: Clock;
}

/** A program with three pipes. */
export class PipeChannel implements HostChannel {
  readonly pid: Pid;
  readonly isWrapped = false;
  readonly ended: Promise<ProcessEnd>;
  readonly #stdin: Writable;
  readonly #sink: OutputSink;
  readonly #clock: Clock;
  readonly #outputs: readonly Readable[];
  #end: (end: ProcessEnd) => void = () => undefined;
  #exit: ProcessEnd | undefined;
  #open: number;
  #readBytes = 0;
  #held = 0;
  #waiting: Disposable | undefined;

  constructor({ child, pid, stdin, stdout, stderr, sink, clock }: PipeChannelOptions) {
    this.pid = pid;
    this.#stdin = stdin;
    this.#sink = sink;
    this.#clock = clock;
    this.ended = new Promise((resolve) => (this.#end = resolve));
    this.#outputs = [stdout, stderr];
    this.#open = this.#outputs.length;
    this.#read(stdout, 'stdout');
    this.#read(stderr, 'stderr');
    // A write that fails is reported to its writer.
    stdin.on('error', () => undefined);
    child.on('error', () => undefined);
    child.on('exit', (code, signal) => {
      this.#exit = endOfStatus({ exitCode: code, signal });
      this.#endOrWait(this.#exit);
    });
  }

  get isReaped(): boolean {
    return this.#exit !== undefined;
  }

  async write(bytes: Uint8Array): Promise<void> {
    const stdin = this.#stdin;
    if (this.isReaped)
      throw new BridgeError(
        'PROCESS_NOT_RUNNING',
        'Input was given to a process that has ended.',
        'Start it again.',
      );
    if (!stdin.writable) throw inputClosed();
    if (stdin.writableLength + bytes.length > MAX_UNREAD_BYTES) {
      throw new BridgeError(
        'INPUT_REFUSED',
        `The process has left ${stdin.writableLength} bytes of its input unread, and more than ${MAX_UNREAD_BYTES} are not kept for it.`,
        'Wait until it reads, or end it.',
      );
    }
    const taken = new Promise<Error | undefined>((resolve) => {
      stdin.write(Buffer.from(bytes), (error) => resolve(error ?? undefined));
    });
    // A pipe that is full takes them later: they are in line by now.
    const fault = await withinMs(this.#clock, WRITE_LIMIT_MS, taken);
    if (fault !== undefined) throw inputClosed(fault);
  }

  endInput(): void {
    if (!this.#stdin.writable) throw inputClosed();
    this.#stdin.end();
  }

  resize(): void {
    throw new BridgeError(
      'NO_TERMINAL',
      'A process without a terminal was to be resized.',
      'Start it with tty to give it a terminal.',
    );
  }

  dispose(): void {
    this.#waiting?.dispose();
    if (!this.isReaped) signalChildGroup(this, 'SIGKILL');
    this.#stdin.destroy();
    for (const output of this.#outputs) output.destroy();
  }

  #read(output: Readable, name: OutputStream): void {
    const goOn = (): void => {
      this.#held--;
      output.resume();
    };
    output.on('data', (bytes: Buffer) => {
      this.#readBytes += bytes.length;
      const wait = this.#sink.write(name, bytes);
      if (wait === undefined) return;
      this.#held++;
      output.pause();
      wait.then(goOn, goOn);
    });
    // A read that fails, or `dispose`: `close` follows.
    output.on('error', () => undefined);
    output.once('close', () => {
      this.#open--;
      if (this.#exit !== undefined) this.#endOrWait(this.#exit);
    });
  }

  /** Nobody holds the pipes any more, or a process that was left behind does: it may hold them for ever. */
  #endOrWait(end: ProcessEnd): void {
    if (this.#open === 0) {
      this.#waiting?.dispose();
      this.#end(end);
    } else if (this.#waiting === undefined) this.#waitForClose(end);
  }

  #waitForClose(end: ProcessEnd): void {
    const untilMs = this.#clock.monotonicMs() + OPEN_AFTER_END_MS;
    let seenBytes = this.#readBytes;
    const look = (): void => {
      const isIdle = this.#readBytes === seenBytes;
      seenBytes = this.#readBytes;
      const isOver = isIdle || this.#clock.monotonicMs() >= untilMs;
      if (this.#held === 0 && isOver) this.#end({ ...end, reason: HELD_OPEN });
      else this.#waiting = this.#clock.after(QUIET_AFTER_END_MS, look);
    };
    this.#waiting = this.#clock.after(QUIET_AFTER_END_MS, look);
  }
}

function inputClosed(cause?: unknown): BridgeError {
  return new BridgeError(
    'INPUT_REFUSED',
    'The input of the process is closed.',
    'Start it again to give it input, or end it.',
    { cause },
  );
}
