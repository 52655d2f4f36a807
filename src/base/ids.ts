/** `task_` and 20 hexadecimal digits: with 80 bits, ids neither collide nor can be guessed. */
export const TASK_ID_PATTERN = /^task_[0-9a-f]{20}$/;
/** `dec_` and a number that counts up within its task. */
export const DECISION_ID_PATTERN = /^dec_[1-9][0-9]{0,8}$/;

/** `proc_` and 12 hexadecimal digits: 48 bits do not collide, and a model has little to copy with every call. */
export const PROCESS_ID_PATTERN = /^proc_[0-9a-f]{12}$/;

export function createProcessId(): string {
  return `proc_${randomHex(6)}`;
}

export function createTaskId(): string {
  return `task_${randomHex(10)}`;
}

/** 128 random bits as 32 hexadecimal digits: for bearer tokens, end marks and process marks. */
export function createSecret(): string {
  return randomHex(16);
}

/** Uses the global `crypto`: importing `node:crypto` adds 2 ms to the start of a server. */
function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex');
}
