// Pure: how a program ended, from the number that a shell or node-pty gives.
import { constants } from 'node:os';

/** How a program ended. `exitCode` is null when a signal ended it. */
export interface ExitStatus {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** In words where the number and the signal do not say it: memory that ran out. */
  readonly why?: string;
}

/** POSIX shells add this to the number of the signal that ended a program; ksh93 adds 256. */
const SIGNAL_BASE = 128;
const KSH_SIGNAL_BASE = 256;

/**
 * The status behind a shell's `$?`. 128 + n with n the number of a signal is read as that signal, because a shell cannot
 * tell it from a program that chose the number itself; any other number is the program's own.
 */
export function exitStatusFromShell(code: number): ExitStatus {
  const base = code > KSH_SIGNAL_BASE ? KSH_SIGNAL_BASE : SIGNAL_BASE;
  const signal = code > base ? signalName(code - base) : undefined;
  return signal === undefined ? { exitCode: code, signal: null } : { exitCode: null, signal };
}

/** The status behind node-pty's exit event: `signal` is 0 or missing when the process ended by itself. */
export function exitStatusFromProcess(code: number, signal: number | undefined): ExitStatus {
  if (signal === undefined || signal === 0) return { exitCode: code, signal: null };
  return { exitCode: null, signal: signalName(signal) ?? `signal ${signal}` };
}

function signalName(number: number): string | undefined {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
}
