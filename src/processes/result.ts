import { BridgeError, type ErrorCode } from '../base/errors.js';

/** What can go wrong with a process, as a backend tells it; the tool edge turns each into a BridgeError. */
export type ProcessFaultCode =
  /** The program, or the shell, was not found or may not be run. */
  | 'PROGRAM_NOT_FOUND'
  /** The backend could not start it: the words are the backend's own. */
  | 'SPAWN_FAILED'
  /** No process has that id, or it is no longer kept. */
  | 'NOT_FOUND'
  /** It has ended; there is nothing to write to or to signal any more. */
  | 'NOT_RUNNING'
  /** Its input was closed before, or its pipe is full of what it does not read. */
  | 'INPUT_CLOSED'
  | 'INPUT_FULL'
  /** What was asked is for a process with a terminal, or for one without. */
  | 'NO_TERMINAL'
  /** Signal or key of that name does not exist. */
  | 'UNKNOWN_NAME'
  /** The engine behind the backend does not answer, or is not installed. */
  | 'BACKEND_UNAVAILABLE'
  | 'IMAGE_NOT_FOUND'
  /** A copy that is too large, leaves its folder, or is of a kind that is not copied. */
  | 'COPY_REFUSED'
  | 'COPY_FAILED';

export interface ProcessFault {
  readonly code: ProcessFaultCode;
  /** What was asked and what is so. */
  readonly message: string;
  /** What to do next. */
  readonly hint: string;
  readonly cause?: unknown;
}

export interface Ok<T> {
  readonly ok: true;
  readonly value: T;
}

export interface Err {
  readonly ok: false;
  readonly fault: ProcessFault;
}

/** How a caller meets what a backend answered. */
const codes: Readonly<Record<ProcessFaultCode, ErrorCode>> = {
  NOT_FOUND: 'PROCESS_NOT_FOUND',
  NOT_RUNNING: 'PROCESS_NOT_RUNNING',
  PROGRAM_NOT_FOUND: 'PROGRAM_NOT_FOUND',
  SPAWN_FAILED: 'SPAWN_FAILED',
  INPUT_CLOSED: 'INPUT_REFUSED',
  INPUT_FULL: 'INPUT_REFUSED',
  NO_TERMINAL: 'NO_TERMINAL',
  UNKNOWN_NAME: 'INVALID_ARGUMENTS',
  BACKEND_UNAVAILABLE: 'DOCKER_UNAVAILABLE',
  IMAGE_NOT_FOUND: 'IMAGE_NOT_FOUND',
  COPY_REFUSED: 'COPY_REFUSED',
  COPY_FAILED: 'COPY_FAILED',
};

/** How a backend answers: a value, or a fault in words. Nothing that a backend expects is thrown. */
export type Result<T> = Ok<T> | Err;

export function ok<T>(value: T): Ok<T> {
  return { ok: true, value };
}

/** `hint` says what to do next; `cause` is kept for the server's log. */
export function err(code: ProcessFaultCode, message: string, hint: string, cause?: unknown): Err {
  return { ok: false, fault: { code, message, hint, ...(cause === undefined ? {} : { cause }) } };
}

/** The value of a result; its fault is thrown as the BridgeError that a caller reads. */
export function valueOf<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  const { code, message, hint, cause } = result.fault;
  throw new BridgeError(codes[code], message, hint, { cause });
}
