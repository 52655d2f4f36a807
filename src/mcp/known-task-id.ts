// Pure.
import { BridgeError } from '../base/errors.js';
import { TASK_ID_PATTERN } from '../base/ids.js';
import { oneLine } from '../base/text.js';

const MAX_SHOWN_CHARS = 60;

/** The id of a task as a caller gave it. Throws TASK_NOT_FOUND for text that cannot be one, before it could become part of a path. */
export function knownTaskId(
  text: string,
  hint = 'list_tasks gives the whole ids. Short ones, the last six digits, are for commands in a terminal.',
): string {
  if (TASK_ID_PATTERN.test(text)) return text;
  const shown = oneLine(JSON.stringify(text), MAX_SHOWN_CHARS);
  const message = `Unknown task ${shown}. A task id looks like task_0123456789abcdef0123.`;
  throw new BridgeError('TASK_NOT_FOUND', message, hint);
}
