// Pure.
import type { ClientAction } from '../../src/board/protocol.js';
import type { DecisionView } from '../../src/board/state.js';

/** What is told takes the place of what was told before, so the last of it is told again. */
const MAX_LINES = 10;
const MAX_SUMMARY_CHARS = 200;

type Answer = Extract<ClientAction, { type: 'decision.answer' }>;

const verdicts: Readonly<Record<Answer['verdict'], string>> = {
  allow: 'allowed, once,',
  allow_session: 'allowed for the rest of the session',
  deny: 'denied',
};

/** What tells the model of the chat what a person did in this page: the whole text after one more answer. */
export function telling(): (action: Answer, decision: DecisionView | undefined) => string {
  const lines: string[] = [];
  return (action, decision) => {
    lines.push(answerLine(action, decision));
    if (lines.length > MAX_LINES) lines.shift();
    return `What the user did on the board of the bridge, newest last:\n${lines.join('\n')}`;
  };
}

function answerLine(action: Answer, decision: DecisionView | undefined): string {
  const { task_id, decision_id, verdict, message, answers } = action;
  const what = decision === undefined ? decision_id : `${decision_id} (${short(decision.summary)})`;
  if (answers !== undefined) {
    const chosen = Object.entries(answers).map(([question, answer]) => `${short(question)} ${short(answer)}`);
    return `- They answered ${what} of ${task_id}: ${chosen.join('; ')}. It needs no other answer.`;
  }
  const why = message === undefined ? '' : ` with the words: ${short(message)}`;
  return `- They ${verdicts[verdict]} ${what} of ${task_id}${why}. It needs no other answer.`;
}

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return JSON.stringify(line.length > MAX_SUMMARY_CHARS ? `${line.slice(0, MAX_SUMMARY_CHARS)}…` : line);
}
