import type { Event } from '../../../src/base/event.js';
import type { Disposable } from '../../../src/base/lifecycle.js';

/** A command that was given to a shell. */
export interface RunningCommand {
  /** When the shell has begun with it. A command with an error in its syntax never begins. */
  readonly begun: Promise<void>;
  /** Its exit code, after its last output; undefined where the shell does not say. */
  readonly ended: Promise<number | undefined>;
  /** Nothing is expected of it any more. */
  abandon(): void;
}

/** How commands get into a terminal, and output out of it. */
export interface TerminalBackend extends Disposable {
  readonly shell: string | undefined;
  readonly onOutput: Event<string>;
  /** Resolves when more output may come: set by the owner, awaited where the output can wait. */
  beforeMore: () => Promise<void>;
  /** A command of a program or of the person has begun or ended. */
  readonly onBusy: Event<void>;
  readonly isBusy: boolean;
  /** Resolves when commands can be run. Throws NO_SHELL_INTEGRATION after a limit. */
  ready(): Promise<void>;
  run(line: string): RunningCommand;
  type(text: string): void;
}
