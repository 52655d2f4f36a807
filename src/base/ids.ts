// Pure.
export { DECISION_ID_PATTERN, PROCESS_ID_PATTERN, TASK_ID_PATTERN } from './id-patterns.js';

export function createProcessId(): string {
  return `proc_${randomHex(6)}`;
}

/** 128 random bits as 32 hexadecimal digits: for bearer tokens, end marks and process marks. */
export function createSecret(): string {
  return randomHex(16);
}

/** Uses the global `crypto`: importing `node:crypto` adds 2 ms to the start of a server. */
function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex');
}
