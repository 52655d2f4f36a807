import type { Clock } from '../base/clock.js';
import { pidOf, type Pid } from '../os/pid.js';
import { signalChild, signalChildGroup } from '../os/send-signals.js';
import type { Child, OutputSink, TerminalSize, WriteResult } from './child.js';
import { EndMarkReader } from './end-mark.js';
import { exitStatusFromProcess, exitStatusFromShell, type ExitStatus } from './exit-status.js';
import { InputQueue } from './input-queue.js';
import type { RawPty } from './load-node-pty.js';

/** A program behind the end-mark wrapper, in a terminal of node-pty. */
export class TerminalChild implements Child {
  readonly pid: Pid | undefined;
  readonly isWrapped = true;
  readonly exited: Promise<ExitStatus>;
  readonly closed: Promise<void>;
  /** Resolves when the terminal's first process has been reaped and the terminal is closed. */
  readonly released: Promise<void>;
  readonly #pty: RawPty;
  readonly #sink: OutputSink;
  readonly #marks: EndMarkReader;
  readonly #input: InputQueue;
  #markExited: (status: ExitStatus) => void = () => undefined;
  /** Promises of the sink that have not ended. */
  #waits = 0;
  #ended = false;
  #isReaped = false;

  constructor(options: { pty: RawPty; nonce: string; clock: Clock; sink: OutputSink }) {
    this.#pty = options.pty;
    this.#sink = options.sink;
    this.pid = pidOf(options.pty.pid);
    this.#marks = new EndMarkReader(options.nonce);
    this.#input = new InputQueue({ fd: options.pty.fd, clock: options.clock });
    this.#pty.onData((data: unknown) => {
      if (Buffer.isBuffer(data)) this.#read(data);
    });
    this.exited = new Promise((resolve) => (this.#markExited = resolve));
    this.closed = this.exited.then(() => undefined);
    this.released = new Promise((resolve) => {
      // node-pty reports the exit when the terminal is closed, or 200 ms after the exit when it never closes.
      this.#pty.onExit(({ exitCode, signal }) => {
        this.#isReaped = true;
        // Only here without a mark: the wrapper itself was killed.
        this.#end(exitStatusFromProcess(exitCode, signal));
        resolve();
      });
    });
    // The read that finds the terminal closed fails with EIO; node-pty throws from an event when nobody listens.
    this.#pty.on('error', () => this.#input.dispose());
  }

  /** True also between the end mark and the end of the wrapper, which this object kills at once. */
  get isReaped(): boolean {
    return this.#isReaped || this.#ended;
  }

  write(data: string | Uint8Array): WriteResult {
    if (this.#ended) return 'closed';
    return this.#input.write(data) ? 'taken' : 'full';
  }

  flushed(): Promise<boolean> {
    return Promise.resolve(true);
  }

  endInput(): boolean {
    return false;
  }

  async resize({ columns, rows }: TerminalSize): Promise<void> {
    if (!this.#ended) this.#pty.resize(columns, rows);
  }

  dispose(): void {
    this.#input.dispose();
    if (this.#isReaped) return;
    // node-pty sees a terminal close only while it reads it.
    this.#pty.resume();
    signalChildGroup(this.#wrapper, 'SIGKILL');
    signalChild(this.#wrapper, 'SIGKILL');
  }

  get #wrapper() {
    return { pid: this.pid, isReaped: this.#isReaped };
  }

  #read(data: Buffer): void {
    if (this.#ended) return;
    const { output, code } = this.#marks.read(data);
    if (output.length > 0) this.#deliver(output);
    if (code === undefined) return;
    this.#end(exitStatusFromShell(code));
    // All has been read: the wrapper waits for nothing but this.
    signalChild(this.#wrapper, 'SIGKILL');
  }

  #deliver(output: Buffer): void {
    const wait = this.#sink.write('terminal', output);
    if (wait === undefined) return;
    if (++this.#waits === 1) this.#pty.pause();
    const done = (): void => {
      if (--this.#waits === 0) this.#pty.resume();
    };
    wait.then(done, done);
  }

  #end(status: ExitStatus): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#input.dispose();
    const held = this.#marks.flush();
    if (held.length > 0) this.#deliver(held);
    // node-pty sees the terminal close only while it reads it.
    this.#pty.resume();
    this.#markExited(status);
  }
}
