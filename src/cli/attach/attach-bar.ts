// Pure: what a person types while attached, and the bar that says so.
import { BridgeError } from '../../base/errors.js';
import { shownLine, quotedLines } from '../../base/text.js';
import type { DecisionAnswer } from '../../tasks/task-host.js';
import type { Decision } from '../../tasks/task.js';
import { described } from '../../tasks/decisions/described.js';
import { wrapped } from '../terminal-text.js';

const MAX_SUMMARY_CHARS = 60;
const MAX_LABEL_CHARS = 24;
/** A key is one digit. */
const MOST_OPTIONS = 9;

/** Before the rest of a line that is too wide: it does not look like a line of its own. */
const WRAPPED = '  ';

/** Of the terminal's rows, those that stay free above the bar. */
const FREE_ROWS = 2;
/** Those that the keys take in a narrow terminal. */
const MOST_KEY_ROWS = 2;

/** Keys that a terminal sends as the same bytes, and that every session needs: Tab, Enter, Esc, line feed, backspace. */
const NEEDED_KEYS = new Set([0x08, 0x09, 0x0a, 0x0d, 0x1b]);
const CTRL_Z = 0x1a;
/** Ctrl-C, Ctrl-D and Ctrl-Z: what people press to leave a program. */
const LEAVING_KEYS = new Set([0x03, 0x04, CTRL_Z]);

interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** How a decision is answered in a terminal of this size. */
function waysOf(decision: Decision, size: TerminalSize) {
  const [question, second] = decision.questions ?? [];
  const rows = requestRows(decision, size);
  return {
    question,
    isSeveral: second !== undefined,
    /** Those of a single question. */
    options: second === undefined ? (question?.options ?? []).slice(0, MOST_OPTIONS) : [],
    /** A yes needs that the whole request is shown. */
    choices: described(decision, question === undefined && rows !== undefined).choices,
    /** The whole request; none where it does not fit. */
    rows: rows ?? [],
    isCut: rows === undefined,
  };
}

/** The answer of a key: that of a choice, or the number of an option of a single question; undefined for another one. */
export function answerFor(decision: Decision, key: string, size: TerminalSize): DecisionAnswer | undefined {
  const { question, options, choices } = waysOf(decision, size);
  const shared = { decision_id: decision.decision_id, by: 'terminal' };
  const option = options[Number(key) - 1];
  if (question !== undefined && option !== undefined)
    return { ...shared, verdict: 'allow', answers: { [question.question]: option.label } };
  const choice = choices.find((one) => one.key === key);
  return choice && { ...shared, verdict: choice.answer };
}

/** The whole request as rows of a terminal; none for a question. Undefined when they do not fit above the keys. */
export function requestRows(decision: Decision, { columns, rows }: TerminalSize): string[] | undefined {
  if ((decision.questions ?? []).length > 0) return [];
  const { headline, request } = described(decision);
  if (request === null) return undefined;
  const lines = [shownLine(headline), ...(request === '' ? [] : quotedLines(request).split('\n'))];
  const all = lines.flatMap((line) => wrapped(line.replaceAll('\t', '    '), columns - 1, WRAPPED, widest));
  return all.length + MOST_KEY_ROWS + FREE_ROWS > rows ? undefined : all;
}

/**
 * The rows of the bar while something is asked: in one line the keys that answer and leave, and what is asked; while a key is awaited
 * (`isChoosing`) the request that it answers, and the keys. `more`: how many other decisions are open.
 */
export function askingBar(
  decision: Decision,
  { more, detachKey, isChoosing }: { more: number; detachKey: string; isChoosing: boolean },
  size: TerminalSize,
): string[] {
  const { question, isSeveral, options, choices, rows, isCut } = waysOf(decision, size);
  const summary = shownLine(question?.question ?? decision.summary, MAX_SUMMARY_CHARS);
  const others = more === 0 ? '' : `(+${more})`;
  if (!isChoosing) {
    const numbers = options.length === 0 ? '' : `1 to ${options.length} or `;
    const keys = choices.map(({ key }) => key).join(', ');
    const ways = `${numbers}${keys.replace(/, (?=\w$)/, ' or ')}`;
    return [`? ${detachKey} then ${ways} answers, twice leaves · ${summary} ${others}`.trimEnd()];
  }
  const keys = [
    ...options.map(({ label }, index) => `${index + 1} ${shownLine(label, MAX_LABEL_CHARS)}`),
    ...choices.map(({ key, label }) => `${key} ${label.toLowerCase()}`),
    ...(isSeveral ? ['several questions: see the dialog'] : []),
    ...(isCut ? ['too long for here: see the dialog'] : []),
  ].join(' · ');
  const line = `▸ ${others === '' ? '' : `${others} `}${detachKey} leaves · ${keys}`;
  return [...(rows.length > 0 ? rows : [summary]), ...wrapped(line, size.columns - 1, WRAPPED, widest)];
}

/** The bar in the last rows of a terminal, the cursor left where it was. */
export function barAt(bar: readonly string[], { columns, rows }: TerminalSize): string {
  if (bar.length === 0) return '';
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

export type AttachAction =
  | { readonly kind: 'keys'; readonly bytes: Buffer }
  | { readonly kind: 'detach' }
  /** The detach key, while something is asked: the next key answers. */
  | { readonly kind: 'choosing' }
  | { readonly kind: 'chosen'; readonly key: string }
  /** The person seems to want to leave; the key went to the session, unless it was Ctrl-Z. */
  | { readonly kind: 'leaving' };

/** The byte of a key such as `ctrl-]` or `^\`. Throws INVALID_ARGUMENTS. */
export function detachByte(name: string): number {
  const char = /^(?:ctrl-|\^)([@-_a-z])$/i.exec(name)?.[1]?.toUpperCase() ?? '@';
  const byte = char.charCodeAt(0) & 0x1f;
  if (byte !== 0 && !NEEDED_KEYS.has(byte)) return byte;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `'${name.slice(0, 40)}' cannot be used as the detach key.`,
    'Use a key such as ctrl-], ctrl-\\ or ctrl-a, but not Enter, Tab, Esc or Backspace.',
  );
}

/** Takes the detach key out of what a person types. While a decision is open, the key starts an answer instead. */
export class AttachKeys {
  readonly #detach: number;
  readonly #isAsked: () => boolean;
  #isChoosing = false;

  constructor(detach: number, isAsked: () => boolean) {
    this.#detach = detach;
    this.#isAsked = isAsked;
  }

  read(typed: Buffer): AttachAction[] {
    const actions: AttachAction[] = [];
    let from = 0;
    const passOn = (to: number): void => {
      if (to > from) actions.push({ kind: 'keys', bytes: typed.subarray(from, to) });
      from = to + 1;
    };
    for (const [at, byte] of typed.entries()) {
      const isDetach = byte === this.#detach;
      // If the session stopped itself, it could not be continued.
      if (this.#isChoosing || isDetach || byte === CTRL_Z) passOn(at);
      if (isDetach && (this.#isChoosing || !this.#isAsked())) return [...actions, { kind: 'detach' }];
      if (this.#isChoosing) actions.push({ kind: 'chosen', key: String.fromCharCode(byte).toLowerCase() });
      else if (isDetach) actions.push({ kind: 'choosing' });
      this.#isChoosing = isDetach;
    }
    passOn(typed.length);
    if (typed.some((byte) => LEAVING_KEYS.has(byte))) actions.push({ kind: 'leaving' });
    return actions;
  }
}
