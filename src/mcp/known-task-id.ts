// Pure.
import { BridgeError, type Next } from '../base/errors.js';
import { isTaskId } from '../base/ids.js';
import { oneLine } from '../base/text.js';

const MAX_SHOWN_CHARS = 60;

/** The id of a task as a caller gave it, with or without a machine. Throws TASK_NOT_FOUND for text that cannot be one, before it could become part of a path. */
export function knownTaskId(
  text: string,
  hint: string | Next = [{ do: 'list' }, 'Short ids are for commands in a terminal.'],
): string {
  if (isTaskId(text)) return text;
  const shown = oneLine(JSON.stringify(text), MAX_SHOWN_CHARS);
  const message = `Unknown task ${shown}. A task id looks like task_0123456789abcdef0123.`;
  throw new BridgeError('TASK_NOT_FOUND', message, hint);
}
