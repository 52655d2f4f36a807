import type { Pid } from '../../os/pid.js';
import type { ProcessEnd, TerminalSize } from '../process-handle.js';

/** What runs behind pipes, or in a terminal. */
export interface HostChannel {
  /** Leads the session and the process group of all that belongs to it. */
  readonly pid: Pid | undefined;
  /** The first process is the bridge's own shell around the program: the program is a child of it. */
  readonly isWrapped: boolean;
  /** The first process has been reaped: its number may be another's by now. */
  readonly isReaped: boolean;
  /** Ends after the last byte was handed on; never rejects. */
  readonly ended: Promise<ProcessEnd>;
  /** These three throw BridgeError. */
  write(bytes: Uint8Array): Promise<void>;
  endInput(): void;
  resize(size: TerminalSize): void;
  /** Kills the process group and closes what is open. */
  dispose(): void;
}
