// Pure: the input of a request as who allows it wants it.
import { BridgeError } from '../../base/errors.js';
import { headBytes, oneLine } from '../../base/text/text.js';
import type { SessionAnswer, SessionRequest } from '../../claude/session.js';
import type { DecisionEdit } from '../task.js';

const SHOWN_CHARS = 120;
/** Rules name what these fields hold, and Claude Code does not hold an edited input to them. */
const NAMED: Readonly<Record<string, string>> = {
  Agent: 'subagent_type',
  Skill: 'skill',
  Task: 'subagent_type',
};
/** Of each text in the record and in the journal. */
const MAX_EDIT_BYTES = 4_000;

/**
 * The whole input with `edits` instead of the fields that they name; undefined when nothing is different. A field that is no
 * text takes JSON. Throws INVALID_ARGUMENTS where the session takes no other input, for a field that the input does not have or that names a skill or an agent,
 * and for text that is not of the field's kind.
 */
export function editedInput(
  request: SessionRequest,
  edits: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> | undefined {
  const { input, source, tool } = request;
  const wanted = Object.entries(edits);
  if (wanted.length === 0) return undefined;
  if (source !== 'exact') {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `${tool} is a dialog on the screen: it takes one of its options (${request.options.join(' | ')}), and no other input.`,
      'Call respond_to_task again without answers; or deny it, with a message that says what to do instead.',
    );
  }
  const changed = wanted.flatMap(([field, text]) => {
    const before = input[field];
    if (!Object.hasOwn(input, field)) throw noField(request, field);
    const after = typeof before === 'string' ? text : parsed(request, field, text);
    if (JSON.stringify(after) === JSON.stringify(before)) return [];
    if (NAMED[tool] === field)
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        `The field '${field}' of ${tool} names what runs, and an answer cannot change it: no rule would count for another name.`,
        'Call respond_to_task again without that field; or deny it, with a message that says what to use instead.',
      );
    return [[field, after] as const];
  });
  return changed.length === 0 ? undefined : { ...input, ...Object.fromEntries(changed) };
}

/** What is allowed instead of what was asked, field by field. */
export function editsOf({ input }: SessionRequest, answer: SessionAnswer): DecisionEdit[] {
  if (answer.verdict === 'deny' || answer.input === undefined) return [];
  return Object.entries(answer.input).flatMap(([field, after]) => {
    const [asked, allowed] = [shownValue(input[field]), shownValue(after)];
    return asked === allowed
      ? []
      : [{ field, asked: headBytes(asked, MAX_EDIT_BYTES), allowed: headBytes(allowed, MAX_EDIT_BYTES) }];
  });
}

function shownValue(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Text as a value of the field's kind: a number stays a number, a list a list. */
function parsed({ input, tool }: SessionRequest, field: string, text: string): unknown {
  const before = input[field];
  const after = jsonOf(text);
  if (after !== undefined && kindOf(after) === kindOf(before)) return after;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `The field '${field}' of ${tool} holds ${JSON.stringify(before).slice(0, SHOWN_CHARS)}, and '${oneLine(text, SHOWN_CHARS)}' is not JSON of that kind.`,
    'Call respond_to_task again with JSON of the same kind in that field, or leave the field out.',
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Whether it is JSON is what is asked.
    return undefined;
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}

function noField({ input, tool, kind }: SessionRequest, field: string): BridgeError {
  const fields = Object.keys(input).join(', ');
  return new BridgeError(
    'INVALID_ARGUMENTS',
    `'${oneLine(field, SHOWN_CHARS)}' is no field of what ${tool} asks about; its fields: ${fields === '' ? 'none' : fields}.`,
    `With verdict allow, answers changes fields of the input${kind === 'plan' ? ' and says the mode for what follows' : ''}; leave it out to allow what is asked.`,
  );
}
