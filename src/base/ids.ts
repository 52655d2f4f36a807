// Pure.
import { BridgeError } from './errors.js';
import { TASK_ID_PATTERN } from './id-patterns.js';
import { oneLine } from './text/text.js';

export { DECISION_ID_PATTERN, PROCESS_ID_PATTERN, TASK_ID_PATTERN } from './id-patterns.js';

export function createProcessId(): string {
  return `proc_${randomHex(6)}`;
}

const MAX_SHOWN_CHARS = 60;

/** The id of a task as services take it. Throws TASK_NOT_FOUND for text that cannot be one, before it could become part of a path. */
export function knownTaskId(
  text: string,
  hint = 'list_tasks gives the whole ids. Short ones, the last six digits, are for commands in a terminal.',
): string {
  if (TASK_ID_PATTERN.test(text)) return text;
  const shown = oneLine(JSON.stringify(text), MAX_SHOWN_CHARS);
  const message = `Unknown task ${shown}. A task id looks like task_0123456789abcdef0123.`;
  throw new BridgeError('TASK_NOT_FOUND', message, hint);
}

/** 128 random bits as 32 hexadecimal digits: for bearer tokens, end marks and process marks. */
export function createSecret(): string {
  return randomHex(16);
}

/** Uses the global `crypto`: importing `node:crypto` adds 2 ms to the start of a server. */
function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex');
}
