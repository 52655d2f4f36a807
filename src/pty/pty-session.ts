import type { Event } from '../base/event.js';
import type { Pid } from '../os/pid.js';
import type { Disposable } from '../base/lifecycle.js';
import type { ExitStatus } from './exit-status.js';

export interface PtySpawnOptions {
  /** Program and arguments; never part of a shell's text. A name without a slash is looked for in the PATH of `env`. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string>>;
  readonly columns: number;
  readonly rows: number;
  /** Any POSIX shell; it runs only the bridge's fixed text. */
  readonly shell: string;
  /** The program's stdin is read from this file instead of the terminal. */
  readonly stdinFile?: string;
}

/** A program in a pseudo-terminal. */
export interface PtySession extends Disposable {
  /**
   * The terminal's first process, its session and its process group; the program is a child of it. Undefined where this
   * machine cannot signal it.
   */
  readonly pid: Pid | undefined;
  /**
   * What the program prints, as it was read. The bytes are valid until the listener returns: who keeps them copies them.
   * Listeners that subscribe right after `spawn` miss nothing.
   */
  readonly onData: Event<Buffer>;
  /** Fires once, after the last `onData`. */
  readonly onExit: Event<ExitStatus>;
  readonly exited: Promise<ExitStatus>;
  /** Queues input. False, and nothing is taken, when the program is gone or leaves megabytes unread. */
  write(data: string | Uint8Array): boolean;
  resize(columns: number, rows: number): void;
  /** Stops reading, so that the program stops at a full terminal; as many `resume` as `pause` start it again. */
  pause(): void;
  resume(): void;
  /** Kills the terminal's process group. Processes with a session of their own are `killTree`'s. */
  dispose(): void;
}

/** Starts programs in pseudo-terminals. */
export interface PtySpawner {
  /** Throws BridgeError TASK_START_FAILED when the program cannot be started; nothing is left behind then. */
  spawn(options: PtySpawnOptions): Promise<PtySession>;
}
