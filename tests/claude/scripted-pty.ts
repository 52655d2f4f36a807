import { Emitter } from '../../src/base/event.js';
import { pidOf } from '../../src/os/pid.js';
import type { ExitStatus } from '../../src/pty/exit-status.js';
import type { PtySession, PtySpawner, PtySpawnOptions } from '../../src/pty/pty-session.js';

/** A program in a terminal, played by a test: it prints what it is told to, and what is typed is written down. */
export class ScriptedPty implements PtySpawner, PtySession {
  readonly pid = pidOf(4242);
  readonly #data = new Emitter<Buffer>();
  readonly #exit = new Emitter<ExitStatus>();
  readonly onData = this.#data.event;
  readonly onExit = this.#exit.event;
  readonly exited = new Promise<ExitStatus>((resolve) => this.#exit.event(resolve));
  readonly typed: string[] = [];
  spawned: PtySpawnOptions | undefined;
  isDisposed = false;
  /** What the program does when something is typed. */
  onTyped: (keys: string) => void = () => {};
  /** Set to let the start fail. */
  spawnError: Error | undefined;

  async spawn(options: PtySpawnOptions): Promise<PtySession> {
    if (this.spawnError !== undefined) throw this.spawnError;
    this.spawned = options;
    return this;
  }

  print(bytes: string | Buffer): void {
    this.#data.fire(Buffer.from(bytes));
  }

  /** Draws a whole screen, the cursor where it is said to be. */
  draw(
    lines: readonly string[],
    cursor: { readonly row: number; readonly column: number } = { row: 0, column: 0 },
  ): void {
    const rows = lines.map((line, row) => `\x1b[${row + 1};1H${line}`).join('');
    this.print(`\x1b[2J${rows}\x1b[${cursor.row + 1};${cursor.column + 1}H`);
  }

  exit(exit: ExitStatus = { exitCode: 0, signal: null }): void {
    this.#exit.fire(exit);
  }

  write(data: string | Uint8Array): boolean {
    const keys = Buffer.from(data).toString('utf8');
    this.typed.push(keys);
    this.onTyped(keys);
    return true;
  }

  resize(): void {}
  pause(): void {}
  resume(): void {}

  dispose(): void {
    this.isDisposed = true;
  }
}
