// Pure.
import { shownLine } from '../../base/text/shown-line.js';
import { quotedLines } from '../../base/text/text.js';
import type { DecisionAnswer } from '../../tasks/task-host.js';
import type { Decision } from '../../tasks/task.js';
import { headline, wholeRequest } from '../../tasks/decisions/whole-request.js';

const MAX_SUMMARY_CHARS = 60;
const MAX_LABEL_CHARS = 24;

/** Before the rest of a line that is too wide: it does not look like a line of its own. */
const WRAPPED = '  ';

/** Of the terminal's rows, those that stay free above the bar. */
const FREE_ROWS = 2;

interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/**
 * The keys that answer a decision: `d`, `a` and `s`, or the number of an option of a single question. `a` and `s` need that the
 * whole request was shown, see `requestRows`.
 */
export function answerFor(decision: Decision, key: string, isShown: boolean): DecisionAnswer | undefined {
  const answer = { decision_id: decision.decision_id, by: 'terminal' };
  if (key === 'd') return { ...answer, verdict: 'deny' };
  const questions = decision.questions ?? [];
  const [question] = questions;
  if (question === undefined) {
    if (!isShown) return undefined;
    if (key === 'a') return { ...answer, verdict: 'allow' };
    return key === 's' ? { ...answer, verdict: 'allow_session' } : undefined;
  }
  const option = question.options[Number(key) - 1];
  if (option === undefined || questions.length > 1) return undefined;
  return { ...answer, verdict: 'allow', answers: { [question.question]: option.label } };
}

/** The whole request as rows of a terminal; none for a question. Undefined when they do not fit above the keys. */
export function requestRows(decision: Decision, { columns, rows }: TerminalSize): string[] | undefined {
  if ((decision.questions ?? []).length > 0) return [];
  const asked = wholeRequest(decision);
  if (asked === undefined) return undefined;
  const lines = [shownLine(headline(decision)), ...(asked === '' ? [] : quotedLines(asked).split('\n'))];
  const all = lines.flatMap((line) => wrapped(line.replaceAll('\t', '    '), columns - 1));
  return all.length + 1 + FREE_ROWS > rows ? undefined : all;
}

/** What is asked, in one line, and the keys that answer. */
export function decisionBar(decision: Decision, more: number, detachKey: string, isShown: boolean): string {
  return `? ${summaryOf(decision, more)} ▸ answer it here, or ${detachKey} and ${keysOf(decision, isShown)}`;
}

/** The rows of the bar while a key is awaited: the request that it answers, and the keys. */
export function choosingBar(
  decision: Decision,
  more: number,
  detachKey: string,
  shown: readonly string[] | undefined,
): string[] {
  const keys = `▸ ${keysOf(decision, shown !== undefined)} · ${detachKey} detach`;
  if (shown === undefined || shown.length === 0) return [`${summaryOf(decision, more)} ${keys}`];
  return [...shown, `${more === 0 ? '' : `(+${more}) `}${keys}`];
}

function summaryOf(decision: Decision, more: number): string {
  const [question] = decision.questions ?? [];
  const summary = shownLine(question?.question ?? decision.summary, MAX_SUMMARY_CHARS);
  return more === 0 ? summary : `${summary} (+${more})`;
}

function keysOf(decision: Decision, isShown: boolean): string {
  const [question, second] = decision.questions ?? [];
  if (question === undefined)
    return isShown
      ? 'a allow · s for the session · d deny'
      : 'd deny · too long to be shown whole: answer it in the dialog';
  if (second !== undefined) return 'd deny · several questions: answer them in the dialog';
  const options = question.options.map(
    ({ label }, index) => `${index + 1} ${shownLine(label, MAX_LABEL_CHARS)}`,
  );
  return `${options.slice(0, 9).join(' · ')} · d deny`;
}

/** The bar in the last rows of a terminal, the cursor left where it was. */
export function barAt(bar: readonly string[], { columns, rows }: TerminalSize): string {
  const drawn = bar.map((text, index) => {
    const shown = [...text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')].slice(0, columns - 1).join('');
    return `\x1b[${rows - bar.length + 1 + index};1H\x1b[0;7m${shown}\x1b[K\x1b[0m`;
  });
  return `\x1b7${drawn.join('')}\x1b8`;
}

/** Pieces of at most so many cells, all but the first behind a mark; a character that is not ASCII may take two. */
function wrapped(line: string, cells: number): string[] {
  const pieces: string[] = [];
  let piece = '';
  let used = 0;
  for (const char of line) {
    const width = char > '~' ? 2 : 1;
    if (used + width > cells) {
      pieces.push(piece);
      piece = WRAPPED;
      used = WRAPPED.length;
    }
    piece += char;
    used += width;
  }
  return [...pieces, piece];
}
