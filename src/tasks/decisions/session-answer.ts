// Pure: a caller's answer → the session's.
import { BridgeError } from '../../base/errors.js';
import { oneLine } from '../../base/text/text.js';
import type { Question, SessionAnswer, SessionRequest } from '../../claude/session.js';
import { chosenLabel } from './chosen-label.js';
import { editedInput } from './edited-input.js';
import { PLAN_MODE_FIELD, planModeOf } from './plan-mode.js';
import type { DecisionAnswer } from '../task-host.js';

const SHOWN_CHARS = 120;

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
