// Pure: a decision as a person reads it in a terminal.
import { quotedLines } from '../base/text/text.js';
import { shownLine } from '../base/text/shown-line.js';
import { headline, wholeRequest } from '../tasks/decisions/whole-request.js';
import type { Decision } from '../tasks/task.js';

const TOO_LONG = '(more than can be shown here: attach to the task to see it, or deny it)';

/** What is asked, whole: the fields of a request, or the questions with their options. */
export function decisionLines(decision: Decision): string[] {
  const questions = decision.questions ?? [];
  if (questions.length > 0)
    return [
      `? ${decision.decision_id}: ${questions.length === 1 ? 'a question' : `${questions.length} questions`}`,
      ...questions.flatMap(questionLines),
    ];
  const why = decision.why === undefined ? [] : [`Why it is asked: ${shownLine(decision.why)}`];
  const asked = wholeRequest(decision);
  const request = asked === undefined ? [TOO_LONG] : asked === '' ? [] : [quotedLines(asked)];
  return [`? ${decision.decision_id}: ${shownLine(headline(decision))}`, ...request, ...why];
}

/** A question with its options, numbered from 1. */
export function questionLines({
  question,
  options,
  multiSelect,
}: NonNullable<Decision['questions']>[number]): string[] {
  const numbered = options.map(({ label, description }, index) => {
    const more = description === undefined || description === '' ? '' : `: ${shownLine(description)}`;
    return `  ${index + 1}  ${shownLine(label)}${more}`;
  });
  return [`${shownLine(question)}${multiSelect ? ' (several may be chosen)' : ''}`, ...numbered];
}

/**
 * How a decision is answered with `begin`, `<program> tasks answer <task>`: words, then one command for each answer. A shell takes
 * each as it stands, and runs nothing else.
 */
export function answerLines({ decision_id, questions = [] }: Decision, begin: string): string[] {
  const command = `${begin} ${decision_id}`;
  const [only, ...more] = questions;
  if (only === undefined)
    return [
      'Answer it with one of:',
      ...['allow', 'allow_session', 'deny'].map((word) => `${command} ${word}`),
    ];
  if (more.length > 0 || only.options.length === 0)
    return [
      'Answer it with deny, or with one --option for each question, a number or your own words, after:',
      `${command} deny`,
      command,
    ];
  return [
    'Answer it with one of these (after --option your own words count too):',
    ...only.options.map((_, index) => `${command} --option ${index + 1}`),
    `${command} deny`,
  ];
}
