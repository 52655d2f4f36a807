import { Emitter } from '../../src/base/lifecycle.js';
import type { Child, OutputSink } from '../../src/pty/child.js';

/** A child that was started for a test: its output as events, and reading that can be paused. */
export class ReadChild {
  readonly child: Child;
  readonly onData;
  readonly #output: PausableOutput;

  private constructor(child: Child, output: PausableOutput) {
    this.child = child;
    this.#output = output;
    this.onData = output.onData;
  }

  /** Listeners that subscribe right after the start miss nothing. */
  static async start(spawn: (sink: OutputSink) => Promise<Child>): Promise<ReadChild> {
    const output = new PausableOutput();
    return new ReadChild(await spawn(output), output);
  }

  get pid() {
    return this.child.pid;
  }

  get exited() {
    return this.child.exited;
  }

  write(data: string | Uint8Array): boolean {
    return this.child.write(data) === 'taken';
  }

  resize(columns: number, rows: number): void {
    void this.child.resize({ columns, rows });
  }

  /** From the next output on the child waits. */
  pause(): void {
    this.#output.pause();
  }

  resume(): void {
    this.#output.resume();
  }

  dispose(): void {
    this.child.dispose();
  }
}

class PausableOutput implements OutputSink {
  readonly #data = new Emitter<Buffer>();
  readonly onData = this.#data.event;
  #pause: { readonly ended: Promise<void>; readonly end: () => void } | undefined;

  write(_stream: unknown, bytes: Uint8Array): Promise<void> | undefined {
    this.#data.fire(Buffer.from(bytes));
    return this.#pause?.ended;
  }

  pause(): void {
    if (this.#pause !== undefined) return;
    let end = (): void => undefined;
    this.#pause = { ended: new Promise<void>((resolve) => (end = resolve)), end: () => end() };
  }

  resume(): void {
    this.#pause?.end();
    this.#pause = undefined;
  }
}
