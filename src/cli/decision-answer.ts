// Pure: what a person writes as an answer → the answer to a decision.
import { BridgeError } from '../base/errors.js';
import { shownLine } from '../base/text/shown-line.js';
import { wholeRequest } from '../tasks/decisions/whole-request.js';
import type { DecisionAnswer } from '../tasks/task-host.js';
import type { Decision } from '../tasks/task.js';

export const verdicts = ['allow', 'allow_session', 'deny'] as const;
export type Verdict = (typeof verdicts)[number];
type Question = NonNullable<Decision['questions']>[number];

/** The words of `tasks answer`. */
export interface GivenAnswer {
  readonly verdict?: Verdict | undefined;
  readonly message?: string | undefined;
  /** One for each question. */
  readonly options?: readonly string[] | undefined;
}

/** Throws INVALID_ARGUMENTS for an answer that does not fit the decision. */
export function answerOf(decision: Decision, given: GivenAnswer): DecisionAnswer {
  const { verdict, message, options = [] } = given;
  const questions = decision.questions ?? [];
  const id = decision.decision_id;
  const shared = {
    decision_id: id,
    by: 'command line',
    ...(message !== undefined && { message }),
  };
  if (verdict === 'deny') return { ...shared, verdict };
  if (questions.length === 0) {
    if (options.length > 0) throw wrong(`${id} is no question, so it has no options.`, verdicts.join(', '));
    if (verdict === undefined) throw wrong(`How to answer ${id} is not said.`, verdicts.join(', '));
    return { ...shared, verdict };
  }
  const answers = questions.map(
    (question, index) => [question, chosen(question, options[index] ?? '')] as const,
  );
  const missing = answers.find(([, text]) => text === undefined);
  if (missing === undefined && options.length === questions.length)
    return {
      ...shared,
      verdict: verdict ?? 'allow',
      answers: Object.fromEntries(answers.map(([{ question }, text]) => [question, text ?? ''])),
    };
  const [noOption, text] = answers.flatMap(([question, text], index) => {
    const given = options[index] ?? '';
    return text === undefined && given.trim() !== '' ? [[question, given] as const] : [];
  })[0] ?? [undefined, ''];
  if (noOption !== undefined && options.length === questions.length)
    throw wrong(
      `'${shownLine(text)}' is no option of ${id}, which has ${noOption.options.length}.`,
      `${noOption.options.map(({ label }, at) => `${at + 1} ${shownLine(label)}`).join(', ')}; own words; or deny`,
    );
  const counts = `${id} needs one --option for each question (${questions.length}), a number of an option or own words`;
  const labels = (missing?.[0] ?? questions[0])?.options.map(({ label }, at) => `${at + 1} ${label}`) ?? [];
  throw wrong(`${counts}.`, `${labels.join(', ')}; or deny`);
}

/** What a person types when `run` asks about a request; undefined for anything else. */
export function typedVerdict(decision: Decision, line: string): DecisionAnswer | undefined {
  const [, word = '', rest = ''] = /^(\S*)\s*(.*)$/.exec(line.trim()) ?? [];
  const shared = { decision_id: decision.decision_id, by: 'terminal' };
  if (['3', 'd', 'deny', 'n', 'no'].includes(word.toLowerCase()))
    return { ...shared, verdict: 'deny', ...(rest !== '' && { message: rest }) };
  // Nobody allows what was not shown, or with a letter that was not offered.
  if (rest !== '' || wholeRequest(decision) === undefined) return undefined;
  if (['1', 'allow'].includes(word.toLowerCase())) return { ...shared, verdict: 'allow' };
  if (['2', 'allow_session'].includes(word.toLowerCase())) return { ...shared, verdict: 'allow_session' };
  return undefined;
}

/** The label of a number, the labels of several where several may be chosen, else the text itself; undefined for none. */
export function chosen({ options, multiSelect }: Question, text: string): string | undefined {
  const words = text.trim();
  if (words === '') return undefined;
  if (!/^\d+(?:[\s,]+\d+)*$/.test(words)) return words;
  const labels = words.split(/[\s,]+/).map((number) => options[Number(number) - 1]?.label);
  if (labels.length > 1 && !multiSelect) return words;
  return labels.some((label) => label === undefined) ? undefined : labels.join(', ');
}

function wrong(message: string, ways: string): BridgeError {
  return new BridgeError('INVALID_ARGUMENTS', message, `Answer with one of: ${ways}.`);
}
