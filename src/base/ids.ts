// Pure.
export { DECISION_ID_PATTERN, PROCESS_ID_PATTERN, TASK_ID_PATTERN } from './id-patterns.js';

export function createProcessId(): string {
  return `proc_${randomHex(6)}`;
}

const TIME_DIGITS = 11;
const RANDOM_DIGITS = 9;

/** `task_`, the milliseconds since the epoch in 11 hexadecimal digits, and 9 random ones: tasks sort by their ids as they were made. */
export function createTaskId(): string {
  const time = Date.now().toString(16).padStart(TIME_DIGITS, '0');
  return `task_${time}${randomHex(5).slice(0, RANDOM_DIGITS)}`;
}

/** 128 random bits as 32 hexadecimal digits: for bearer tokens, end marks and process marks. */
export function createSecret(): string {
  return randomHex(16);
}

/** Uses the global `crypto`: importing `node:crypto` adds 2 ms to the start of a server. */
function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex');
}
