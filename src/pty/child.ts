// Pure.
import type { Writable } from 'node:stream';
import type { Disposable } from '../base/lifecycle.js';
import type { OwnChild } from '../os/send-signals.js';
import type { ExitStatus } from './exit-status.js';

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** `terminal` for a child with a pseudo-terminal, else one of the two. */
export type OutputStream = 'stdout' | 'stderr' | 'terminal';

/**
 * Takes what a child prints. The bytes are valid until the returned promise ends, without one until the call returns: a
 * sink that keeps them copies them.
 */
export interface OutputSink {
  /** The child reads no more output until the promise ends. The program then stops at a full pipe or terminal. */
  write(stream: OutputStream, bytes: Uint8Array): Promise<void> | undefined;
}

/** One promise for several sinks of the same output; undefined when none of them makes the child wait. */
export function allWaits(waits: readonly (Promise<void> | undefined)[]): Promise<void> | undefined {
  const open = waits.filter((wait) => wait !== undefined);
  return open.length === 0 ? undefined : Promise.all(open).then(() => undefined);
}

export interface SpawnOptions {
  /** Program and arguments; never part of a shell's text. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string>>;
  /** Gets the output from the first byte on. */
  readonly sink: OutputSink;
}

export interface TerminalOptions extends SpawnOptions {
  readonly size: TerminalSize;
  /** Any POSIX shell; it runs only the bridge's fixed text. */
  readonly shell: string;
  /** The program's stdin is read from this file instead of the terminal. */
  readonly stdinFile?: string;
}

/** Nothing was taken from a write when the input is `full` (megabytes are unread) or `closed`. */
export type WriteResult = 'taken' | 'full' | 'closed';

/** A program that was started: in a terminal, on pipes, or in a container. */
export interface Child extends OwnChild, Disposable {
  /** The first process is the bridge's own shell; the program is a child of it. */
  readonly isWrapped: boolean;
  /** Resolves when the program has ended. Never rejects. */
  readonly exited: Promise<ExitStatus>;
  /**
   * Resolves when the program has ended and all of its output is in the sink. A process that it left behind can hold pipes
   * open for longer. Never rejects.
   */
  readonly closed: Promise<void>;
  /** Queues input, in order. */
  write(data: string | Uint8Array): WriteResult;
  /** Resolves when the system has taken all input so far; false when nothing reads it any more. Never rejects. */
  flushed(): Promise<boolean>;
  /** Closes a pipe; a terminal has no end of input. False when there is nothing to close. */
  endInput(): boolean;
  /** Does nothing without a terminal. Throws BridgeError when the engine of a container refuses. */
  resize(size: TerminalSize): Promise<void>;
  /** Kills the process group or the container, and closes what is open. Processes with a session of their own are `killTree`'s. */
  dispose(): void;
}

/** Starts programs in pseudo-terminals. */
export interface PtySpawner {
  /** Throws BridgeError TASK_START_FAILED when the program cannot be started; nothing is left behind then. */
  spawn(options: TerminalOptions): Promise<Child>;
}

/** Starts a program on pipes. Throws when it cannot be started, with nothing left behind. */
export type SpawnPiped = (options: SpawnOptions) => Promise<Child>;

/** With so much unread input no more is taken: a program that never reads must not fill the memory. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;

/** Queues input of a child in a stream. `onWritten` is called when the stream has passed it on, or could not. */
export function writeToStream(
  stream: Writable,
  data: string | Uint8Array,
  onWritten?: (error: Error | null | undefined) => void,
): WriteResult {
  if (!stream.writable) return 'closed';
  if (stream.writableLength > MAX_UNREAD_BYTES) return 'full';
  stream.write(Buffer.from(data), onWritten);
  return 'taken';
}
