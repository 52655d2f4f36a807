// Pure: how a program ended, from the number that a shell or node-pty gives.
import { constants } from 'node:os';

/** How a program ended. One of `code` and `signal` says how; neither is there when that is not known. */
export interface ExitStatus {
  readonly code?: number;
  readonly signal?: string;
  /** The kernel ended it because it used more memory than it may. */
  readonly outOfMemory?: boolean;
  /** It ended because it was asked to, and nothing reports an exit code. */
  readonly wasAsked?: boolean;
  /** What the above do not say, in words: for example that the engine is gone. */
  readonly reason?: string;
}

/** POSIX shells add this to the number of the signal that ended a program; ksh93 adds 256. */
const SIGNAL_BASE = 128;
const KSH_SIGNAL_BASE = 256;

/**
 * The status behind a shell's `$?`. 128 + n with n the number of a signal is read as that signal, although a program
 * may have chosen the number itself; any other number is the program's own.
 */
export function exitStatusFromShell(code: number): ExitStatus {
  const base = code > KSH_SIGNAL_BASE ? KSH_SIGNAL_BASE : SIGNAL_BASE;
  const signal = code > base ? signalName(code - base) : undefined;
  return signal === undefined ? { code } : { signal };
}

/** The status behind node-pty's exit event: `signal` is 0 or missing when no signal ended the process. */
export function exitStatusFromProcess(code: number, signal: number | undefined): ExitStatus {
  if (signal === undefined || signal === 0) return { code };
  return { signal: signalName(signal) ?? `signal ${signal}` };
}

/** The status behind the `exit` event of a child of Node. */
export function exitStatusFromNode(code: number | null, signal: string | null): ExitStatus {
  return { ...(code !== null && { code }), ...(signal !== null && { signal }) };
}

function signalName(number: number): string | undefined {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
}
