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
  /** It runs, as far as is known, and its keeper does not answer. */
  | 'UNREACHABLE'
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

/** How a backend answers: a value, or a fault in words. Nothing that a backend expects is thrown. */
export type Result<T> = Ok<T> | Err;

export function ok<T>(value: T): Ok<T> {
  return { ok: true, value };
}

/** `hint` says what to do next; `cause` is kept for the server's log. */
export function err(code: ProcessFaultCode, message: string, hint: string, cause?: unknown): Err {
  return { ok: false, fault: { code, message, hint, ...(cause === undefined ? {} : { cause }) } };
}

/** `why` completes "cannot be reached: …". */
export function unreachable(
  id: string,
  why: string,
  hint = 'kill ends it all the same; ps tells what became of it.',
): Err {
  return err('UNREACHABLE', `The process ${id} cannot be reached: ${why}.`, hint);
}
