// Pure: the forms of ids, and new ones. The board's page reads them, too.

/** `task_` and 20 hexadecimal digits. Of a task these are its time and a random number, of a session of a person a hash. */
export const TASK_ID_PATTERN = /^task_[0-9a-f]{20}$/;
/** `dec_` and a number that counts up within its task. */
export const DECISION_ID_PATTERN = /^dec_[1-9][0-9]{0,8}$/;
/** `proc_` and 12 hexadecimal digits: 48 bits do not collide, and a model has little to copy with every call. */
export const PROCESS_ID_PATTERN = /^proc_[0-9a-f]{12}$/;

/** A name of the setting `machines`. */
export const MACHINE_NAME_PATTERN = /^[a-z][a-z0-9-]{0,30}$/;

/** Of a task of this machine, or of another one with its name before it. */
export const ANY_TASK_ID_PATTERN = /^(?:[a-z][a-z0-9-]{0,30}\/)?task_[0-9a-f]{20}$/;

/** An id with the name of its machine before it: `gpu/task_…`. Undefined for one of this machine, and for what has no such form. */
export function farIdOf(text: string): { readonly machine: string; readonly id: string } | undefined {
  const at = text.indexOf('/');
  const machine = text.slice(0, Math.max(0, at));
  return MACHINE_NAME_PATTERN.test(machine) ? { machine, id: text.slice(at + 1) } : undefined;
}

/** Whether a text is the id of a task, of this machine or of another. */
export function isTaskId(text: string): boolean {
  return TASK_ID_PATTERN.test(farIdOf(text)?.id ?? text);
}

/** The id of a task or process of another machine as it is known here. */
export function idOn(machine: string, id: string): string {
  return `${machine}/${id}`;
}

const TIME_DIGITS = 11;
const RANDOM_DIGITS = 9;

/**
 * `task_`, the milliseconds since the epoch in 11 hexadecimal digits, and 9 random ones: tasks sort by their ids as they were
 * made.
 */
export function createTaskId(nowMs: number): string {
  const time = nowMs.toString(16).padStart(TIME_DIGITS, '0');
  return `task_${time}${createSecret().slice(0, RANDOM_DIGITS)}`;
}

export function createProcessId(): string {
  return `proc_${createSecret().slice(0, 12)}`;
}

/**
 * 128 random bits as 32 hexadecimal digits: for bearer tokens, end marks and process marks. Uses the global `crypto`: importing
 * `node:crypto` adds 2 ms to the start of a server.
 */
export function createSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex');
}
