// Pure: the ids of responses. A response is the answer of one ask, so its id says which task gave it.
import { BridgeError } from '../base/errors.js';
import { oneLine } from '../base/text.js';

const RESPONSE_ID_PATTERN = /^response_[0-9a-f]{20}$/;
const MAX_SHOWN_CHARS = 60;

export function responseIdOf(taskId: string): string {
  return taskId.replace(/^task_/, 'response_');
}

/** The task that gave the response. Throws RESPONSE_NOT_FOUND for text that cannot be a response's id. */
export function taskIdOfResponse(responseId: string): string {
  if (RESPONSE_ID_PATTERN.test(responseId)) return responseId.replace(/^response_/, 'task_');
  throw new BridgeError(
    'RESPONSE_NOT_FOUND',
    `Unknown response ${oneLine(JSON.stringify(responseId), MAX_SHOWN_CHARS)}. A response id looks like response_0123456789abcdef0123.`,
    'Use a responseId from an earlier answer, or omit previousResponseId to start a new conversation.',
  );
}
