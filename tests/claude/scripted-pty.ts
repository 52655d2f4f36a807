import { pidOf } from '../../src/os/pid.js';
import type { ExitStatus } from '../../src/pty/exit-status.js';
import type { Child, OutputSink, PtySpawner, TerminalOptions, WriteResult } from '../../src/pty/child.js';

/** A program in a terminal, played by a test: it prints what it is told to, and what is typed is written down. */
export class ScriptedPty implements PtySpawner, Child {
  readonly pid = pidOf(4242);
  readonly isReaped = false;
  readonly isWrapped = true;
  #exit: (exit: ExitStatus) => void = () => {};
  readonly exited = new Promise<ExitStatus>((resolve) => (this.#exit = resolve));
  readonly closed = this.exited.then(() => undefined);
  readonly typed: string[] = [];
  spawned: TerminalOptions | undefined;
  #sink: OutputSink | undefined;
  isDisposed = false;
  /** What the program does when something is typed. */
  onTyped: (keys: string) => void = () => {};
  /** Set to let the start fail. */
  spawnError: Error | undefined;

  async spawn(options: TerminalOptions): Promise<Child> {
    if (this.spawnError !== undefined) throw this.spawnError;
    this.spawned = options;
    this.#sink = options.sink;
    return this;
  }

  print(bytes: string | Buffer): void {
    void this.#sink?.write('terminal', Buffer.from(bytes));
  }

  /** Draws a whole screen, the cursor where it is said to be. */
  draw(
    lines: readonly string[],
    cursor: { readonly row: number; readonly column: number } = { row: 0, column: 0 },
  ): void {
    const rows = lines.map((line, row) => `\x1b[${row + 1};1H${line}`).join('');
    this.print(`\x1b[2J${rows}\x1b[${cursor.row + 1};${cursor.column + 1}H`);
  }

  exit(exit: ExitStatus = { code: 0 }): void {
    this.#exit(exit);
  }

  write(data: string | Uint8Array): WriteResult {
    const keys = Buffer.from(data).toString('utf8');
    this.typed.push(keys);
    this.onTyped(keys);
    return 'taken';
  }

  async flushed(): Promise<boolean> {
    return true;
  }

  endInput(): boolean {
    return false;
  }

  async resize(): Promise<void> {}

  dispose(): void {
    this.isDisposed = true;
  }
}
