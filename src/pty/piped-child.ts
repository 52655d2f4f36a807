import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { pidOf, type Pid } from '../os/pid.js';
import { signalChildGroup } from '../os/send-signals.js';
import { type Child, type OutputSink, type OutputStream, type WriteResult, writeToStream } from './child.js';
import { exitStatusFromNode, type ExitStatus } from './exit-status.js';

export interface PipedChildOptions {
  readonly child: ChildProcess;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly sink: OutputSink;
}

/** A program with three pipes. */
export class PipedChild implements Child {
  readonly pid: Pid | undefined;
  readonly isWrapped = false;
  readonly exited: Promise<ExitStatus>;
  readonly closed: Promise<void>;
  readonly #stdin: Writable;
  readonly #outputs: readonly Readable[];
  #written: Promise<boolean> = Promise.resolve(true);
  #isReaped = false;

  constructor({ child, stdin, stdout, stderr, sink }: PipedChildOptions) {
    this.pid = pidOf(child.pid);
    this.#stdin = stdin;
    this.#outputs = [stdout, stderr];
    const closed = [read(stdout, 'stdout', sink), read(stderr, 'stderr', sink)];
    // A write that fails is reported to its writer.
    stdin.on('error', () => undefined);
    // The start reports its own error; after it only a signal that fails is one.
    child.on('error', () => undefined);
    this.exited = new Promise((resolve) => {
      child.on('exit', (code, signal) => {
        this.#isReaped = true;
        resolve(exitStatusFromNode(code, signal));
      });
    });
    this.closed = Promise.all([this.exited, ...closed]).then(() => undefined);
  }

  get isReaped(): boolean {
    return this.#isReaped;
  }

  write(data: string | Uint8Array): WriteResult {
    if (this.#isReaped) return 'closed';
    let markWritten: (isWritten: boolean) => void = () => undefined;
    const written = new Promise<boolean>((resolve) => (markWritten = resolve));
    const result = writeToStream(this.#stdin, data, (error) => markWritten(!error));
    if (result === 'taken') this.#written = written;
    return result;
  }

  flushed(): Promise<boolean> {
    return this.#written;
  }

  endInput(): boolean {
    if (!this.#stdin.writable) return false;
    this.#stdin.end();
    return true;
  }

  async resize(): Promise<void> {}

  dispose(): void {
    if (!this.#isReaped) signalChildGroup(this, 'SIGKILL');
    this.#stdin.destroy();
    for (const output of this.#outputs) output.destroy();
  }
}

/** Resolves when the pipe is closed and all that was read from it is in the sink. */
async function read(output: Readable, name: OutputStream, sink: OutputSink): Promise<void> {
  const goOn = (): void => void output.resume();
  output.on('data', (bytes: Buffer) => {
    const wait = sink.write(name, bytes);
    if (wait === undefined) return;
    output.pause();
    wait.then(goOn, goOn);
  });
  // A read that fails, or `dispose`: `close` follows.
  output.on('error', () => undefined);
  await new Promise<void>((resolve) => output.once('close', () => resolve()));
}
