// Pure: a caller's answer → the session's.
import { BridgeError } from '../../base/errors.js';
import { headBytes, oneLine } from '../../base/text.js';
import {
  sessionModes,
  type Question,
  type SessionAnswer,
  type SessionMode,
  type SessionRequest,
} from '../../claude/session.js';
import type { DecisionEdit } from '../task.js';
import type { DecisionAnswer } from '../task-host.js';

const SHOWN_CHARS = 120;
/** At the end of an option that is cut in replies. */
const CUT = '…';
/** Rules name what these fields hold, and Claude Code does not hold an edited input to them. */
const NAMED: Readonly<Record<string, string>> = {
  Agent: 'subagent_type',
  Skill: 'skill',
  Task: 'subagent_type',
};
/** Of each text in the record and in the journal. */
const MAX_EDIT_BYTES = 4_000;
/** The name under which the answer to a plan says the mode. */
const PLAN_MODE_FIELD = 'mode';

/** Of the bridge; a sandbox is there from the start or not at all. */
const ruleModes = ['auto', 'cautious'] as const;
/** Those of the bridge, by which its rules decide from then on, and those of the CLI. */
const planModes = [...ruleModes, ...sessionModes] as const;

interface PlanMode {
  readonly session: SessionMode;
  /** Undefined: the rules decide as before. */
  readonly rules?: (typeof ruleModes)[number];
}

/**
 * The session's answer for a caller's answer. Throws INVALID_ARGUMENTS when a question is left without an answer, or when
 * what is to be edited, or the mode after a plan, is not to be had.
 */
export function sessionAnswerFor(request: SessionRequest, answer: DecisionAnswer): SessionAnswer {
  if (answer.verdict === 'deny') {
    const message = answer.message?.trim();
    return {
      verdict: 'deny',
      message: message === undefined || message === '' ? 'The user declined this request.' : message,
    };
  }
  if (request.questions !== undefined)
    return { verdict: answer.verdict, answers: answersTo(request.questions, answer) };
  const mode = planModeOf(request, answer.answers);
  const { [PLAN_MODE_FIELD]: _, ...rest } = answer.answers ?? {};
  const input = editedInput(request, request.kind === 'plan' ? rest : (answer.answers ?? {}));
  if (input !== undefined && answer.verdict === 'allow_session') {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      'What is edited can be allowed once, and this was to be allowed for the session.',
      'Call respond_to_task again with verdict "allow".',
    );
  }
  return {
    verdict: answer.verdict,
    ...(input !== undefined && { input }),
    ...(mode !== undefined && { mode: mode.session }),
  };
}

/** The answer in words, for the record: what was chosen, edited or said. */
export function answerInWords(answer: DecisionAnswer, sessionAnswer: SessionAnswer): string | null {
  if (answer.message !== undefined) return answer.message;
  if (sessionAnswer.verdict === 'deny') return sessionAnswer.message;
  const said = Object.entries(sessionAnswer.answers ?? answer.answers ?? {});
  return said.length === 0 ? null : said.map(([name, text]) => `${name} → ${text}`).join('; ');
}

function answersTo(questions: readonly Question[], answer: DecisionAnswer): Record<string, string> {
  // A question may have any words, also the name of what every object has.
  const given = new Map(Object.entries(answer.answers ?? {}));
  const answers = new Map<string, string>();
  const missing: string[] = [];
  for (const question of questions) {
    const onlyOne = questions.length === 1;
    const text =
      given.get(question.question) ??
      given.get(question.header) ??
      (onlyOne ? ([...given.values()][0] ?? answer.message) : undefined);
    if (text === undefined || text.trim() === '') missing.push(question.question);
    else answers.set(question.question, chosenLabel(text, question));
  }
  if (missing.length === 0) return Object.fromEntries(answers);
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `The question needs an answer: ${missing.map((question) => `'${oneLine(question, SHOWN_CHARS)}'`).join(', ')}.`,
    `Call respond_to_task again with answers: { "<question>": "<option label or free text>" }; options: ${questions
      .map((question) => question.options.map((option) => option.label).join(' | '))
      .join('; ')}.`,
  );
}

/**
 * What was chosen, as the session knows it: replies show options as `label: description`, and who answers with that
 * means the label. Of a question with several choices each one is made a label. Other text stays as it is.
 */
function chosenLabel(text: string, { options, multiSelect }: Question): string {
  const described = options.flatMap(({ label, description }) =>
    description === undefined || description === '' ? [] : [{ label, full: `${label}: ${description}` }],
  );
  const answer = onOneLine(text);
  if (options.some(({ label }) => label === text.trim())) return text;
  const whole = described.find(({ full }) => isShownAs(answer, onOneLine(full)));
  if (whole !== undefined) return whole.label;
  if (!multiSelect) return text;
  // The longest first: one description may begin as another does.
  const longestFirst = described.toSorted((a, b) => b.full.length - a.full.length);
  return longestFirst.reduce((rest, { label, full }) => rest.replaceAll(full, () => label), text);
}

/** A long option is cut in replies, with a mark at its end. */
function isShownAs(answer: string, full: string): boolean {
  if (answer === full) return true;
  const label = full.slice(0, full.indexOf(': ') + 2);
  return answer.endsWith(CUT) && answer.startsWith(label) && full.startsWith(answer.slice(0, -CUT.length));
}

function onOneLine(text: string): string {
  return oneLine(text.trim(), Number.MAX_SAFE_INTEGER);
}

/**
 * The whole input with `edits` instead of the fields that they name; undefined when nothing is different. A field that is no
 * text takes JSON. Throws INVALID_ARGUMENTS where the session takes no other input, for a field that the input does not have or that names a skill or an agent,
 * and for text that is not of the field's kind.
 */
function editedInput(
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

/** Undefined when nothing is said of it. Throws INVALID_ARGUMENTS for any other mode, such as those in which the CLI would ask nothing. */
export function planModeOf(
  request: SessionRequest,
  answers: Readonly<Record<string, string>> | undefined,
): PlanMode | undefined {
  const text = request.kind === 'plan' ? answers?.[PLAN_MODE_FIELD]?.trim() : undefined;
  if (text === undefined || text === '') return undefined;
  const rules = ruleModes.find((mode) => mode === text);
  if (rules !== undefined) return { session: 'default', rules };
  const session = sessionModes.find((mode) => mode === text);
  if (session === undefined) throw noMode(text);
  return { session };
}

function noMode(text: string): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    `'${oneLine(text, 60)}' is no permission mode for what follows a plan.`,
    `Call respond_to_task again with answers: { "${PLAN_MODE_FIELD}": one of ${planModes.map((mode) => `"${mode}"`).join(', ')} }, or without it to go on as before.`,
  );
}
