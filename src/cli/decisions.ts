// Pure: a decision as a person reads it in a terminal, and what a person writes as an answer to it.
import { BridgeError, type ErrorCode } from '../base/errors.js';
import { DECISION_ID_PATTERN } from '../base/ids.js';
import { shownLine, oneLine, quotedLines } from '../base/text.js';
import { described, type Choice } from '../tasks/decisions/described.js';
import type { DecisionAnswer } from '../tasks/task-host.js';
import { isFinal, isNative, openDecisions, type Decision, type TaskRecord } from '../tasks/task.js';
import { shortId } from './find-task.js';
import { fitted, type Look } from './terminal-text.js';

type Verdict = Choice['answer'];
type Question = NonNullable<Decision['questions']>[number];

/** What a person may write for a verdict: its name, its key, or another word. */
const verdicts: ReadonlyMap<string, Verdict> = new Map([
  ...(['y', 'yes', 'allow'] as const).map((word) => [word, 'allow'] as const),
  ...(['s', 'allow_session'] as const).map((word) => [word, 'allow_session'] as const),
  ...(['n', 'no', 'd', 'deny'] as const).map((word) => [word, 'deny'] as const),
]);
/** What answers a request. Alone, one is no answer to a question in a person's own words. */
const KEYS = ['y', 's', 'n'];
const VERDICTS = 'allow, allow_session, deny';
const TOO_LONG = '(more than can be shown here: attach to the task to see it, or deny it)';
const MAX_REASON_CHARS = 300;
const SHOWN_CHARS = 40;
/** Where more than one choice is an answer. */
const SEVERAL = '; several choices as --option 1,2';
/** Before the rest of a line that is too wide: it looks like no line of its own. */
const WRAPPED = '  ';

/** What is asked, whole: the fields of a request, or the questions with their options. */
export function decisionLines(decision: Decision, look: Look): string[] {
  const questions = decision.questions ?? [];
  const { headline, request } = described(decision);
  const count = questions.length === 1 ? 'a question' : `${questions.length} questions`;
  const what = questions.length === 0 ? shownLine(headline) : count;
  const fit = (line: string): string => fitted(line, look, WRAPPED);
  const title = look.paint('bold', look.paint('yellow', fit(`? ${decision.decision_id}: ${what}`)));
  if (questions.length > 0) return [title, ...questions.flatMap((one) => questionLines(one, look))];
  const why = decision.why === undefined ? [] : [fit(`Why it is asked: ${shownLine(decision.why)}`)];
  const lines = request === null ? [TOO_LONG] : request === '' ? [] : quotedLines(request).split('\n');
  return [title, ...lines.map(fit), ...why];
}

/** A question with its options, numbered from 1. */
function questionLines({ question, options, multiSelect }: Question, look: Look): string[] {
  const numbered = options.map(({ label, description }, index) => {
    const more = description === undefined || description === '' ? '' : `: ${shownLine(description)}`;
    return fitted(`  ${index + 1}  ${shownLine(label)}${more}`, look, '     ');
  });
  return [
    fitted(`${shownLine(question)}${multiSelect ? ' (several may be chosen)' : ''}`, look, WRAPPED),
    ...numbered,
  ];
}

/**
 * How a decision is answered with `begin`, `<program> tasks answer <task>`: words, then one command for each answer. A shell takes
 * each as it stands, and runs nothing else.
 */
export function answerLines(decision: Decision, begin: string): string[] {
  const command = `${begin} ${decision.decision_id}`;
  const [only, ...more] = decision.questions ?? [];
  if (only === undefined)
    return [
      'Answer it with one of:',
      ...described(decision).choices.map(({ answer }) => `${command} ${answer}`),
    ];
  const several = [only, ...more].some(({ multiSelect }) => multiSelect) ? SEVERAL : '';
  if (more.length > 0 || only.options.length === 0)
    return [
      `Answer it with deny, or with one --option for each question, a number or your own words${several}, after:`,
      `${command} deny`,
      command,
    ];
  return [
    `Answer it with one of these (after --option your own words count too${several}):`,
    ...only.options.map((_, index) => `${command} --option ${index + 1}`),
    `${command} deny`,
  ];
}

/** `<program> tasks answer <task>`, or that of a session that a person started. */
export function answerCommand(record: TaskRecord, command: string): string {
  return `${command} ${isNative(record) ? 'native' : 'tasks'} answer ${shortId(record.task_id)}`;
}

/** How a request is answered by typing. */
export function requestWords(decision: Decision): string {
  const { choices, cut } = described(decision);
  const ways = choices.map(({ key, label }) => `${key} (${label.toLowerCase()})`).join(', ');
  const why = cut === null ? '' : ' What is not shown whole cannot be allowed here.';
  return `Type ${ways}, then Enter; after n you can add why.${why}`;
}

/** The verdict of a word that a person wrote; undefined for any other word. */
function verdictOf(word: string): Verdict | undefined {
  return verdicts.get(word.toLowerCase());
}

/** The words of `tasks answer`. */
export interface GivenAnswer {
  /** The id of the decision. */
  readonly decision?: string | undefined;
  readonly verdict?: Verdict | undefined;
  readonly message?: string | undefined;
  /** One for each question. */
  readonly options?: readonly string[];
}

/**
 * `[decision] [words of the answer]`; `option`: those of `--option`. Behind a no stands why; words that are no verdict answer a question.
 * Throws INVALID_ARGUMENTS for words that are both.
 */
export function answerOfWords(words: readonly string[], option: readonly string[] = []): GivenAnswer {
  const [first = ''] = words;
  const decision = DECISION_ID_PATTERN.test(first) ? first : undefined;
  const [word = '', ...rest] = decision === undefined ? words : words.slice(1);
  const verdict = verdictOf(word);
  const own = (verdict === undefined ? [word, ...rest] : rest).join(' ');
  if (own === '') return { decision, verdict, options: option };
  if (verdict === 'deny') return { decision, verdict, message: own, options: option };
  if (verdict === undefined && option.length === 0) return { decision, options: [own] };
  throw wrong(`'${oneLine(words.join(' '), SHOWN_CHARS)}' is more than one answer.`, VERDICTS);
}

/** Throws INVALID_ARGUMENTS where an answer is given instead of the task: `tasks answer y`. `begin`: `<program> tasks answer`. */
export function requireTask(task: string, { verdict, options = [] }: GivenAnswer, begin: string): void {
  if (verdict !== undefined || options.length > 0 || verdictOf(task) === undefined) return;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `'${task}' is an answer, and the id of the task is missing.`,
    `Name the task before the answer: ${begin} <task> ${task}`,
  );
}

/** Throws INVALID_ARGUMENTS for an answer that does not fit the decision. */
export function answerOf(decision: Decision, given: GivenAnswer): DecisionAnswer {
  const { verdict, message, options = [] } = given;
  const { decision_id: id, questions = [] } = decision;
  const shared = { decision_id: id, by: 'command line', ...(message !== undefined && { message }) };
  if (verdict === 'deny') return { ...shared, verdict };
  if (questions.length === 0) {
    const [option] = options;
    if (option !== undefined) {
      const given = oneLine(option, SHOWN_CHARS);
      throw wrong(`${id} is no question, so '${given}' is no answer to it.`, VERDICTS);
    }
    if (verdict === undefined) throw wrong(`How to answer ${id} is not said.`, VERDICTS);
    return { ...shared, verdict };
  }
  const isComplete = options.length === questions.length;
  const answers = questions.map((question, index): [string, string] => {
    const text = options[index] ?? '';
    const label = isComplete ? chosen(question, text) : undefined;
    if (label !== undefined) return [question.question, label];
    const labels = question.options.map((option, at) => `${at + 1} ${shownLine(option.label)}`).join(', ');
    throw wrong(
      isComplete && text.trim() !== ''
        ? `'${shownLine(text)}' is no option of ${id}, which has ${question.options.length}${question.multiSelect ? '' : ' and takes one'}.`
        : `${id} needs one --option for each question (${questions.length}), a number of an option or own words.`,
      `${labels}; own words; or deny`,
    );
  });
  return { ...shared, verdict: verdict ?? 'allow', answers: Object.fromEntries(answers) };
}

/**
 * What a person types about a request: a key, a word or the number of a choice, and behind a no why. Undefined for anything else, and for a
 * yes that is not offered. `isShown`: whether the place shows the request whole.
 */
export function typedVerdict(
  decision: Decision,
  line: string,
  isShown?: boolean,
): DecisionAnswer | undefined {
  const [, word = '', rest = ''] = /^(\S*)\s*(.*)$/.exec(line.trim()) ?? [];
  const { choices } = described(decision, isShown);
  const choice = choices[Number(word) - 1] ?? choices.find(({ answer }) => answer === verdictOf(word));
  if (choice === undefined || (rest !== '' && choice.answer !== 'deny')) return undefined;
  const answer = { decision_id: decision.decision_id, by: 'terminal', verdict: choice.answer };
  return { ...answer, ...(rest !== '' && { message: rest }) };
}

/** The label of a number, the labels of several where several may be chosen, else the text itself; undefined for none. */
export function chosen({ options, multiSelect }: Question, text: string): string | undefined {
  const words = text.trim();
  if (words === '') return undefined;
  if (options.length === 0 || !/^\d+(?:[\s,]+\d+)*$/.test(words)) return words;
  const labels = words.split(/[\s,]+/).map((number) => options[Number(number) - 1]?.label);
  const fits = labels.every((label) => label !== undefined) && (labels.length === 1 || multiSelect);
  return fits ? labels.join(', ') : undefined;
}

/** What a person types below a question: as `chosen`; undefined for a mere key of a request where there are options. */
export function typedChoice(question: Question, line: string): string | undefined {
  const isKey = question.options.length > 0 && KEYS.includes(line.trim().toLowerCase());
  return isKey ? undefined : chosen(question, line);
}

function wrong(message: string, ways: string): BridgeError {
  return new BridgeError('INVALID_ARGUMENTS', message, `Answer with one of: ${ways}.`);
}

/**
 * The decision of that id, or the only open one. Throws DECISION_CLOSED, DECISION_NOT_FOUND, INVALID_ARGUMENTS. `command` is how a
 * person runs this program.
 */
export function openDecision(record: TaskRecord, id: string | undefined, command: string): Decision {
  const open = openDecisions(record);
  const [first] = open;
  const ids = open.map(({ decision_id }) => decision_id).join(', ');
  const show = `${command} ${isNative(record) ? 'native' : 'tasks'} show ${record.task_id}`;
  const hint = `${show} shows what it ${isFinal(record.status) ? 'did' : 'does'}.`;
  const refused = (code: ErrorCode, message: string, how: string) => new BridgeError(code, message, how);
  const named = record.decisions.find(({ decision_id }) => decision_id === id);
  const closed = id === undefined && first === undefined ? lastClosed(record) : named;
  if (closed !== undefined && !open.includes(closed))
    throw refused('DECISION_CLOSED', closedWords(closed), hint);
  if (first === undefined)
    throw refused('DECISION_NOT_FOUND', `${record.task_id} asks nothing now: it is ${record.status}.`, hint);
  if (named !== undefined) return named;
  if (id !== undefined) {
    const message = `${record.task_id} has no open decision '${oneLine(id, SHOWN_CHARS)}'.`;
    throw refused('DECISION_NOT_FOUND', message, `Open: ${ids}.`);
  }
  if (open.length === 1) return first;
  const message = `${record.task_id} asks ${open.length} things: ${ids}.`;
  throw refused('INVALID_ARGUMENTS', message, 'Name one of them before the answer.');
}

/** The decision that a person was asked last, while the task goes on: another answer may have come first. */
function lastClosed({ status, decisions }: TaskRecord): Decision | undefined {
  return isFinal(status) ? undefined : decisions.findLast(({ answered_by }) => answered_by !== 'rule');
}

function closedWords({ decision_id, verdict, answered_by, reason }: Decision): string {
  if (verdict === null || verdict === 'withdrawn') {
    const why = oneLine(reason ?? '', MAX_REASON_CHARS);
    return `${decision_id} is closed${why === '' ? '' : `: ${why}`}.`.replace(/\.\.$/, '.');
  }
  return `${decision_id} was already answered: ${verdict}${answered_by === null ? '' : ` by ${answered_by}`}.`;
}
