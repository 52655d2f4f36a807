/** `task_` and 20 hexadecimal digits: 80 bits, so ids neither collide nor can be guessed. */
export const TASK_ID_PATTERN = /^task_[0-9a-f]{20}$/;
/** `dec_` and a number that counts up within its task. */
export const DECISION_ID_PATTERN = /^dec_[1-9][0-9]{0,8}$/;

/** `proc_` and 12 hexadecimal digits: 48 bits, so ids do not collide; a model copies them with every call. */
export const PROCESS_ID_PATTERN = /^proc_[0-9a-f]{12}$/;

export function createProcessId(): string {
  return `proc_${randomHex(6)}`;
}

export function createTaskId(): string {
  return `task_${randomHex(10)}`;
}

/** A value nobody can guess, as 32 hexadecimal digits: bearer tokens, end marks, process marks. */
export function createSecret(): string {
  return randomHex(16);
}

/** The global `crypto` is there already; importing `node:crypto` costs a server 2 ms of its start. */
function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex');
}
