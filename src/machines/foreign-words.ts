// Pure: what another machine says, as it can be shown here.
import { oneLine, withoutControl } from '../base/text.js';
import { isObject } from '../mcp/answers.js';

/** Fields whose texts, at any depth, have lines: what an agent wrote or asks for, what callers wrote, what programs printed. */
const BODIES: ReadonlySet<string> = new Set([
  'brief',
  'command',
  'edits',
  'final_message',
  'input',
  'last_output',
  'messages',
  'output',
  'questions',
  'text',
]);
/** Base64. */
const BYTES = 'bytes';

/**
 * JSON of the far side with each text on one line and control characters shown as escapes; texts of several lines lose theirs, other than
 * line feeds and tabs. So no place that shows a record, a note or a path has to mind whose it is.
 */
export function cleaned(value: unknown, isBody = false): unknown {
  if (typeof value === 'string') return isBody ? withoutControl(value) : wholeLine(value);
  if (Array.isArray(value)) return value.map((item: unknown) => cleaned(item, isBody));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      wholeLine(name),
      name === BYTES ? field : cleaned(field, isBody || BODIES.has(name)),
    ]),
  );
}

function wholeLine(text: string): string {
  return oneLine(text, Number.MAX_SAFE_INTEGER);
}
