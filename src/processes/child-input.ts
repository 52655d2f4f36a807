import { constants } from 'node:os';
import { withinMs, type Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import type { Child } from '../pty/child.js';
import type { ProcessSpec } from './process-handle.js';

/** A pipe takes bytes at once, or fails when nothing reads it; what it has not taken by then stays queued. */
const WRITE_LIMIT_MS = 100;

/** Gives input to a child that runs. Throws INPUT_REFUSED. */
export async function writeInput(child: Child, bytes: Uint8Array, clock: Clock): Promise<void> {
  const result = child.write(bytes);
  if (result === 'closed') throw inputClosed();
  if (result === 'full') {
    throw new BridgeError(
      'INPUT_REFUSED',
      'The process has left megabytes of its input unread, and no more is kept for it.',
      'Wait until it reads, or end it.',
    );
  }
  if ((await withinMs(clock, WRITE_LIMIT_MS, child.flushed())) === false) throw inputClosed();
}

/** Closes the input of a child that runs. Throws INPUT_REFUSED when it is closed already. */
export function endInput(child: Child): void {
  if (!child.endInput()) throw inputClosed();
}

/** Throws NO_TERMINAL for the end of input of a terminal. */
export function requirePipes({ tty }: ProcessSpec): void {
  if (tty === undefined) return;
  throw new BridgeError(
    'NO_TERMINAL',
    'The input of a terminal was to be closed, and a terminal has no end to close.',
    'Send the key ctrl-d, which means the end of input to most programs.',
  );
}

/** Throws NO_TERMINAL for the size of pipes. */
export function requireTerminal({ tty }: ProcessSpec): void {
  if (tty !== undefined) return;
  throw new BridgeError(
    'NO_TERMINAL',
    'A process without a terminal was to be resized.',
    'Start it with tty to give it a terminal.',
  );
}

/** Throws INVALID_ARGUMENTS for a signal that does not exist on this system. */
export function signalNamed(name: string): NodeJS.Signals {
  if (isSignal(name)) return name;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `There is no signal ${JSON.stringify(name)} on this system.`,
    'Give a name such as SIGTERM, SIGINT or SIGKILL.',
  );
}

function isSignal(name: string): name is NodeJS.Signals {
  return Object.hasOwn(constants.signals, name);
}

export function notRunning(id?: string): BridgeError {
  return new BridgeError(
    'PROCESS_NOT_RUNNING',
    `The process${id === undefined ? '' : ` ${id}`} has ended.`,
    'Its output can still be read; start it again if need be.',
  );
}

function inputClosed(): BridgeError {
  return new BridgeError(
    'INPUT_REFUSED',
    'The input of the process is closed.',
    'Start it again to give it input, or end it.',
  );
}
