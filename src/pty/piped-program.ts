import type { Readable, Writable } from 'node:stream';
import type { Pid } from '../os/pid.js';
import type { ExitStatus } from './exit-status.js';

export interface PipedSpawnOptions {
  /** Program and arguments; never part of a shell's text. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string>>;
}

/** A program on pipes, without a terminal. Who got it reads its output from the first byte on. */
export interface PipedProgram {
  /** Its process group, too; undefined where this machine cannot signal it. */
  readonly pid: Pid | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** It has ended; something that it started may hold its output open still. Never rejects. */
  readonly exited: Promise<ExitStatus>;
  /** It has ended, and both outputs are closed. Never rejects. */
  readonly closed: Promise<void>;
}

/** Starts a program on pipes. Throws when it cannot be started, with nothing left behind. */
export type SpawnPiped = (options: PipedSpawnOptions) => Promise<PipedProgram>;
