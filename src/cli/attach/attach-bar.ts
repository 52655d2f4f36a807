// Pure.
import { shownLine } from '../../base/text/shown-line.js';
import { quotedLines } from '../../base/text/text.js';
import type { DecisionAnswer } from '../../tasks/task-host.js';
import type { Decision } from '../../tasks/task.js';
import { headline, wholeRequest } from '../../tasks/decisions/whole-request.js';
import { wrapped } from '../terminal-text.js';

const MAX_SUMMARY_CHARS = 60;
const MAX_LABEL_CHARS = 24;

/** Before the rest of a line that is too wide: it does not look like a line of its own. */
const WRAPPED = '  ';

/** Of the terminal's rows, those that stay free above the bar. */
const FREE_ROWS = 2;
/** Those that the keys take in a narrow terminal. */
const MOST_KEY_ROWS = 2;

interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/**
 * The keys that answer a decision: `n` or `d`, `y` or `a`, and `s`, or the number of an option of a single question. A yes needs that the
 * whole request was shown, see `requestRows`.
 */
export function answerFor(decision: Decision, key: string, isShown: boolean): DecisionAnswer | undefined {
  const answer = { decision_id: decision.decision_id, by: 'terminal' };
  if (key === 'd' || key === 'n') return { ...answer, verdict: 'deny' };
  const questions = decision.questions ?? [];
  const [question] = questions;
  if (question === undefined) {
    if (!isShown) return undefined;
    if (key === 'a' || key === 'y') return { ...answer, verdict: 'allow' };
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
  const all = lines.flatMap((line) => wrapped(line.replaceAll('\t', '    '), columns - 1, WRAPPED, widest));
  return all.length + MOST_KEY_ROWS + FREE_ROWS > rows ? undefined : all;
}

/** In one line the keys that answer and leave, then what is asked. */
export function decisionBar(decision: Decision, more: number, detachKey: string, isShown: boolean): string {
  const [question, second] = decision.questions ?? [];
  const count = second === undefined ? (question?.options.length ?? 0) : 0;
  const options = count === 0 ? '' : `1 to ${Math.min(count, 9)} or `;
  const keys = question === undefined && isShown ? 'y, s or n' : `${options}n`;
  return `? ${detachKey} then ${keys} answers, twice leaves · ${summaryOf(decision, more)}`;
}

/** The rows of the bar while a key is awaited: the request that it answers, and the keys. */
export function choosingBar(
  decision: Decision,
  more: number,
  detachKey: string,
  shown: readonly string[] | undefined,
  { columns }: TerminalSize,
): string[] {
  const isWhole = shown !== undefined && shown.length > 0;
  const count = more === 0 ? '' : `(+${more}) `;
  const keys = `▸ ${count}${detachKey} leaves · ${keysOf(decision, shown !== undefined)}`;
  const rows = isWhole ? shown : [summaryOf(decision, 0)];
  return [...rows, ...wrapped(keys, columns - 1, WRAPPED, widest)];
}

function summaryOf(decision: Decision, more: number): string {
  const [question] = decision.questions ?? [];
  const summary = shownLine(question?.question ?? decision.summary, MAX_SUMMARY_CHARS);
  return more === 0 ? summary : `${summary} (+${more})`;
}

function keysOf(decision: Decision, isShown: boolean): string {
  const [question, second] = decision.questions ?? [];
  if (question === undefined)
    return isShown ? 'y allow · s for the session · n deny' : 'n deny · too long for here: see the dialog';
  if (second !== undefined) return 'n deny · several questions: see the dialog';
  const options = question.options.map(
    ({ label }, index) => `${index + 1} ${shownLine(label, MAX_LABEL_CHARS)}`,
  );
  return `${options.slice(0, 9).join(' · ')} · n deny`;
}

/** The bar in the last rows of a terminal, the cursor left where it was. */
export function barAt(bar: readonly string[], { columns, rows }: TerminalSize): string {
  const drawn = bar.map((text, index) => {
    const shown = [...text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')].slice(0, columns - 1).join('');
    return `\x1b[${rows - bar.length + 1 + index};1H\x1b[0;7m${shown}\x1b[K\x1b[0m`;
  });
  return `\x1b7${drawn.join('')}\x1b8`;
}

/** A character that is not ASCII may take two columns. */
function widest(text: string): number {
  let cells = 0;
  for (const char of text) cells += char > '~' ? 2 : 1;
  return cells;
}
