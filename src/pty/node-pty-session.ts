import type { Clock } from '../base/clock.js';
import { Emitter } from '../base/event.js';
import type { Pid } from '../os/pid.js';
import { signalChild, signalChildGroup, type OwnChild } from '../os/send-signals.js';
import { EndMarkReader } from './end-mark.js';
import { exitStatusFromProcess, exitStatusFromShell, type ExitStatus } from './exit-status.js';
import { InputQueue } from './input-queue.js';
import type { RawPty } from './load-node-pty.js';
import type { PtySession } from './pty-session.js';

/** A program behind the end-mark wrapper, in a terminal of node-pty. */
export class NodePtySession implements PtySession {
  readonly pid: Pid;
  readonly exited: Promise<ExitStatus>;
  /** Resolves when the terminal's first process has been reaped and the terminal is closed. */
  readonly closed: Promise<void>;
  readonly #pty: RawPty;
  readonly #marks: EndMarkReader;
  readonly #input: InputQueue;
  readonly #data = new Emitter<Buffer>();
  readonly #exit = new Emitter<ExitStatus>();
  #pauses = 0;
  #ended = false;
  #gone = false;

  constructor(options: { pty: RawPty; nonce: string; clock: Clock }) {
    this.#pty = options.pty;
    this.pid = options.pty.pid;
    this.#marks = new EndMarkReader(options.nonce);
    this.#input = new InputQueue({ fd: options.pty.fd, clock: options.clock });
    this.#pty.onData((data) => {
      if (Buffer.isBuffer(data)) this.#read(data);
    });
    this.exited = new Promise((resolve) => this.#exit.event(resolve));
    this.closed = new Promise((resolve) => {
      // node-pty reports the exit when the terminal is closed, or 200 ms after the exit when it never closes.
      this.#pty.onExit(({ exitCode, signal }) => {
        this.#gone = true;
        // Only here without a mark: the wrapper itself was killed.
        this.#end(exitStatusFromProcess(exitCode, signal));
        resolve();
      });
    });
    // The read that finds the terminal closed fails with EIO; node-pty throws from an event when nobody listens.
    this.#pty.on('error', () => this.#input.dispose());
  }

  get onData() {
    return this.#data.event;
  }

  get onExit() {
    return this.#exit.event;
  }

  write(data: string | Uint8Array): boolean {
    return this.#input.write(data);
  }

  resize(columns: number, rows: number): void {
    if (!this.#ended) this.#pty.resize(columns, rows);
  }

  pause(): void {
    this.#pauses++;
    if (this.#pauses === 1 && !this.#ended) this.#pty.pause();
  }

  resume(): void {
    if (this.#pauses === 0) return;
    this.#pauses--;
    if (this.#pauses === 0) this.#pty.resume();
  }

  dispose(): void {
    this.#input.dispose();
    if (this.#gone) return;
    // node-pty sees a terminal close only while it reads it.
    this.#pty.resume();
    signalChildGroup(this.#wrapper, 'SIGKILL');
    signalChild(this.#wrapper, 'SIGKILL');
  }

  get #wrapper(): OwnChild {
    return { pid: this.pid, isReaped: this.#gone };
  }

  #read(data: Buffer): void {
    if (this.#ended) return;
    const { output, code } = this.#marks.read(data);
    if (output.length > 0) this.#data.fire(output);
    if (code === undefined) return;
    this.#end(exitStatusFromShell(code));
    // All has been read: the wrapper waits for nothing but this.
    signalChild(this.#wrapper, 'SIGKILL');
  }

  #end(status: ExitStatus): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#input.dispose();
    // node-pty sees the terminal close only while it reads it.
    this.#pty.resume();
    const held = this.#marks.flush();
    if (held.length > 0) this.#data.fire(held);
    this.#exit.fire(status);
    this.#data.dispose();
    this.#exit.dispose();
  }
}
