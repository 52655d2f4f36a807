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
import type { DecisionAnswer } from '../task-host.js';
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
/** The name under which the answer to a plan says the mode. */
const PLAN_MODE_FIELD = 'mode';

/** Of the bridge; a sandbox is there from the start or not at all. */
const ruleModes = ['auto', 'cautious'] as const;
/** Those of the bridge, by which its rules decide from then on, and those of the CLI. */
const planModes: readonly string[] = [...ruleModes, ...sessionModes];

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
  const { verdict, message = '', answers = {} } = answer;
  if (verdict === 'deny') return { verdict, message: message.trim() || 'The user declined this request.' };
  if (request.questions !== undefined) return { verdict, answers: answersTo(request.questions, answer) };
  const mode = planModeOf(request, answers);
  const { [PLAN_MODE_FIELD]: _, ...rest } = answers;
  const input = editedInput(request, request.kind === 'plan' ? rest : answers);
  if (input !== undefined && verdict === 'allow_session')
    throw refused(
      'What is edited can be allowed once, and this was to be allowed for the session.',
      'with verdict "allow".',
    );
  return {
    verdict,
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

/** What is allowed instead of what was asked, field by field. */
export function editsOf({ input }: SessionRequest, answer: SessionAnswer): DecisionEdit[] {
  if (answer.verdict === 'deny' || answer.input === undefined) return [];
  return Object.entries(answer.input).flatMap(([field, after]) => {
    const [asked, allowed] = [textOf(input[field]), textOf(after)];
    if (asked === allowed) return [];
    return [{ field, asked: headBytes(asked, MAX_EDIT_BYTES), allowed: headBytes(allowed, MAX_EDIT_BYTES) }];
  });
}

/**
 * The mode after a plan; undefined when nothing is said of it. Throws INVALID_ARGUMENTS for any other mode, such as those in which the
 * CLI would ask nothing.
 */
export function planModeOf(
  { kind }: SessionRequest,
  answers: Readonly<Record<string, string>> = {},
): PlanMode | undefined {
  const text = kind === 'plan' ? answers[PLAN_MODE_FIELD]?.trim() : undefined;
  if (text === undefined || text === '') return undefined;
  const rules = ruleModes.find((mode) => mode === text);
  if (rules !== undefined) return { session: 'default', rules };
  const session = sessionModes.find((mode) => mode === text);
  const hint = `with answers: { "${PLAN_MODE_FIELD}": one of ${planModes.map((mode) => `"${mode}"`).join(', ')} }, or without it to go on as before.`;
  if (session === undefined)
    throw refused(`'${oneLine(text, 60)}' is no permission mode for what follows a plan.`, hint);
  return { session };
}

/** By question; given by question, by header, or alone for the only one. */
function answersTo(questions: readonly Question[], answer: DecisionAnswer): Record<string, string> {
  // A question may have any words, also the name of what every object has.
  const given = new Map(Object.entries(answer.answers ?? {}));
  const alone = questions.length === 1 ? ([...given.values()][0] ?? answer.message) : undefined;
  const answers = questions.map(({ question, header }) => ({
    question,
    text: given.get(question) ?? given.get(header) ?? alone ?? '',
  }));
  const missing = answers.filter(({ text }) => text.trim() === '');
  if (missing.length === 0) return Object.fromEntries(answers.map(({ question, text }) => [question, text]));
  const options = questions.map((question) => question.options.map(({ label }) => label).join(' | '));
  throw refused(
    `The question needs an answer: ${missing.map(({ question }) => `'${oneLine(question, SHOWN_CHARS)}'`).join(', ')}.`,
    `with answers: { "<question>": "<option label (several: a, b) or free text>" }; options: ${options.join('; ')}.`,
  );
}

/**
 * The whole input with `edits` instead of the fields that they name; undefined when nothing is different. A field that is no
 * text takes JSON. Throws INVALID_ARGUMENTS where the session takes no other input, for a field that the input does not have or that names a skill or an agent,
 * and for text that is not of the field's kind.
 */
function editedInput(
  { input, source, tool, kind, options }: SessionRequest,
  edits: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> | undefined {
  const wanted = Object.entries(edits);
  if (wanted.length > 0 && source !== 'exact')
    throw refused(
      `${tool} is a dialog on the screen: it takes one of its options (${options.join(' | ')}), and no other input.`,
      'without answers; or deny it, with a message that says what to do instead.',
    );
  const changed = wanted.flatMap(([field, text]) => {
    const before = input[field];
    if (!Object.hasOwn(input, field))
      throw refused(
        `'${oneLine(field, SHOWN_CHARS)}' is no field of what ${tool} asks about; its fields: ${Object.keys(input).join(', ') || 'none'}.`,
        `without answers to allow what is asked, or with fields of the input${kind === 'plan' ? ' and the mode for what follows' : ''}.`,
      );
    const after = typeof before === 'string' ? text : jsonOf(text);
    if (kindOf(after) !== kindOf(before))
      throw refused(
        `The field '${field}' of ${tool} holds ${textOf(before).slice(0, SHOWN_CHARS)}, and '${oneLine(text, SHOWN_CHARS)}' is not JSON of that kind.`,
        'with JSON of the same kind in that field, or leave the field out.',
      );
    if (textOf(after) === textOf(before)) return [];
    if (NAMED[tool] === field)
      throw refused(
        `The field '${field}' of ${tool} names what runs, and an answer cannot change it: no rule would count for another name.`,
        'without that field; or deny it, with a message that says what to use instead.',
      );
    return [[field, after] as const];
  });
  return changed.length === 0 ? undefined : { ...input, ...Object.fromEntries(changed) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Whether it is JSON is what is asked.
    return undefined;
  }
}

/** A number stays a number, a list a list. */
function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}

function refused(message: string, again: string): BridgeError {
  return new BridgeError('INVALID_ARGUMENTS', message, `Answer again ${again}`);
}
