// Pure: what a person types while attached, and the bar that says so.
import { BridgeError } from '../../base/errors.js';
import { shownLine, quotedLines } from '../../base/text.js';
import type { DecisionAnswer } from '../../tasks/task-host.js';
import type { Decision } from '../../tasks/task.js';
import { described } from '../../tasks/decisions/described.js';
import { typedVerdict } from '../decisions.js';
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

/**
 * The answer of a key: that of a choice, or the number of an option of a single question. A yes needs that the whole request was shown,
 * see `requestRows`.
 */
export function answerFor(decision: Decision, key: string, isShown: boolean): DecisionAnswer | undefined {
  const [question, second] = decision.questions ?? [];
  const option = second === undefined ? question?.options[Number(key) - 1] : undefined;
  if (question !== undefined && option !== undefined)
    return {
      decision_id: decision.decision_id,
      by: 'terminal',
      verdict: 'allow',
      answers: { [question.question]: option.label },
    };
  if (/\d/.test(key)) return undefined;
  return typedVerdict(decision, key === 'a' ? 'y' : key, isShown && question === undefined);
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

/** In one line the keys that answer and leave, then what is asked. */
export function decisionBar(decision: Decision, more: number, detachKey: string, isShown: boolean): string {
  const [question, second] = decision.questions ?? [];
  const count = second === undefined ? (question?.options.length ?? 0) : 0;
  const options = count === 0 ? '' : `1 to ${Math.min(count, MOST_OPTIONS)} or `;
  const choices = described(decision, isShown && question === undefined).choices.map(({ key }) => key);
  const keys = `${options}${choices.join(', ').replace(/, (?=\w$)/, ' or ')}`;
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
  const { choices } = described(decision, isShown && question === undefined);
  const options = (second === undefined ? (question?.options ?? []) : [])
    .slice(0, MOST_OPTIONS)
    .map(({ label }, index) => `${index + 1} ${shownLine(label, MAX_LABEL_CHARS)}`);
  const keys = [...options, ...choices.map(({ key, label }) => `${key} ${label.toLowerCase()}`)].join(' · ');
  if (second !== undefined) return `${keys} · several questions: see the dialog`;
  return question === undefined && !isShown ? `${keys} · too long for here: see the dialog` : keys;
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
  | { readonly kind: 'cancelled' }
  /** The person seems to want to leave; the key went to the session, unless it was Ctrl-Z. */
  | { readonly kind: 'leaving' };

/** The byte of a key such as `ctrl-]` or `^\`. Throws INVALID_ARGUMENTS. */
export function detachByte(name: string): number {
  const char = /^(?:ctrl-|\^)([@-_a-z])$/i.exec(name)?.[1]?.toUpperCase();
  const byte = char === undefined ? undefined : char.charCodeAt(0) & 0x1f;
  if (byte !== undefined && byte !== 0 && !NEEDED_KEYS.has(byte)) return byte;
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
    for (let at = 0; at < typed.length; at++) {
      const byte = typed[at] ?? 0;
      if (this.#isChoosing) {
        this.#isChoosing = false;
        from = at + 1;
        if (byte === this.#detach) return [...actions, { kind: 'detach' }];
        const key = String.fromCharCode(byte).toLowerCase();
        actions.push(/^[aysdn1-9]$/.test(key) ? { kind: 'chosen', key } : { kind: 'cancelled' });
      } else if (byte === this.#detach) {
        passOn(at);
        if (!this.#isAsked()) return [...actions, { kind: 'detach' }];
        this.#isChoosing = true;
        actions.push({ kind: 'choosing' });
      } else if (byte === CTRL_Z) {
        // If the session stopped itself, it could not be continued.
        passOn(at);
      }
    }
    passOn(typed.length);
    if (typed.some((byte) => LEAVING_KEYS.has(byte))) actions.push({ kind: 'leaving' });
    return actions;
  }
}
