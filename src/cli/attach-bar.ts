import { oneLine } from '../base/text.js';
import type { DecisionAnswer } from '../tasks/task-host.js';
import type { Decision } from '../tasks/task.js';

const MAX_SUMMARY_CHARS = 60;
const MAX_LABEL_CHARS = 24;

/** The keys that answer a decision: `d`, `a` and `s`, or the number of an option of a single question. */
export function answerFor(decision: Decision, key: string): DecisionAnswer | undefined {
  const answer = { decision_id: decision.decision_id, by: 'terminal' };
  if (key === 'd') return { ...answer, verdict: 'deny' };
  const questions = decision.questions ?? [];
  const [question] = questions;
  if (question === undefined) {
    if (key === 'a') return { ...answer, verdict: 'allow' };
    return key === 's' ? { ...answer, verdict: 'allow_session' } : undefined;
  }
  const option = question.options[Number(key) - 1];
  if (option === undefined || questions.length > 1) return undefined;
  return { ...answer, verdict: 'allow', answers: { [question.question]: option.label } };
}

/** One line about an open decision: what is asked, and the keys that answer. */
export function decisionBar(
  decision: Decision,
  more: number,
  detachKey: string,
  isChoosing: boolean,
): string {
  const [question, second] = decision.questions ?? [];
  const keys =
    question === undefined
      ? 'a allow · s for the session · d deny'
      : second !== undefined
        ? 'd deny · several questions: answer them in the dialog'
        : `${question.options
            .map(({ label }, index) => `${index + 1} ${oneLine(label, MAX_LABEL_CHARS)}`)
            .slice(0, 9)
            .join(' · ')} · d deny`;
  const summary = oneLine(question?.question ?? decision.summary, MAX_SUMMARY_CHARS);
  const others = more === 0 ? '' : ` (+${more})`;
  return isChoosing
    ? `${summary}${others} ▸ ${keys} · ${detachKey} detach`
    : `? ${summary}${others} ▸ answer it here, or ${detachKey} and ${keys}`;
}

/** The bar in the last row of a terminal, the cursor left where it was. */
export function barAt(text: string, size: { readonly columns: number; readonly rows: number }): string {
  const shown = [...text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')].slice(0, size.columns - 1).join('');
  return `\x1b7\x1b[${size.rows};1H\x1b[0;7m${shown}\x1b[K\x1b[0m\x1b8`;
}
