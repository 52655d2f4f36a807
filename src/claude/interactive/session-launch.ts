import type { Pid } from '../../os/pid.js';
import type { Child } from '../../pty/child.js';

/** The program of a session, as its driver uses it. */
export type SessionProgram = Pick<Child, 'pid' | 'exited' | 'write' | 'resize' | 'dispose'>;

/** A session whose program is not a child of its terminal. */
export interface Launched {
  /** The id that Claude Code gave it. */
  readonly sessionId: string;
  readonly program: SessionProgram & { isBlocked(): Promise<boolean | undefined> };
  /** Ends the session when its work is done. */
  end(): Promise<void>;
}

export interface LaunchParts {
  /** The settings with the hooks, as JSON. */
  readonly settings: string;
  /** The value of HOOK_TOKEN_VARIABLE. */
  readonly token: string;
  /** Opens a terminal in which the program runs; what it prints is the session's screen. */
  readonly openTerminal: (
    command: readonly string[],
    env: Readonly<Record<string, string>>,
  ) => Promise<Child>;
  readonly onNotice: (text: string) => void;
  /** The session goes on in another process. */
  readonly onRestarted: (pid: Pid) => void;
}

/** Starts a session outside of the terminal. Throws BridgeError, and leaves nothing behind, when it cannot. */
export type Launch = (parts: LaunchParts) => Promise<Launched>;
