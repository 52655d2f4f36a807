// Pure: cutting text without breaking characters, and showing text on one line.

/** The longest prefix of `text` that is at most `maxBytes` long in UTF-8, cut between characters. */
export function headBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && isContinuation(bytes[end])) end--;
  return bytes.toString('utf8', 0, end);
}

/** The longest end of `text` that is at most `maxBytes` long in UTF-8, cut between characters. */
export function tailBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let start = bytes.length - maxBytes;
  while (start < bytes.length && isContinuation(bytes[start])) start++;
  return bytes.toString('utf8', start);
}

/** The last `maxChars` UTF-16 units of `text`, never beginning inside a surrogate pair. */
export function tailChars(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const tail = text.slice(-maxChars);
  const first = tail.charCodeAt(0);
  return first >= 0xdc00 && first <= 0xdfff ? tail.slice(1) : tail;
}

/** As many of the last lines as fit, trimmed; of a longer last line its end. */
export function tailLines(text: string, maxChars: number): string {
  const whole = text.trim();
  const tail = tailChars(whole, maxChars);
  if (tail.length === whole.length || whole.at(-tail.length - 1) === '\n') return tail.trim();
  return tail.slice(tail.indexOf('\n') + 1).trim();
}

/** A text of more than `maxChars` UTF-16 units as its beginning and its end, with how much is left out between them. */
export function headAndTail(text: string, maxChars: number): string {
  return cutMiddle({ text, leftOut: 0 }, maxChars).text;
}

/** A text in whose middle a line says that `leftOut` characters are missing; a whole one with 0. */
export interface CutText {
  readonly text: string;
  readonly leftOut: number;
}

/** The same for a text that may have been cut before: the line counts what both cuts left out. */
export function cutMiddle(whole: CutText, maxChars: number): CutText {
  const { text } = whole;
  if (text.length <= maxChars) return whole;
  const half = Math.floor(maxChars / 2);
  const last = text.charCodeAt(half - 1);
  const head = text.slice(0, last >= 0xd800 && last <= 0xdbff ? half - 1 : half);
  const tail = tailChars(text, half);
  const before = whole.leftOut === 0 ? 0 : whole.leftOut - leftOutLine(whole.leftOut).length;
  const leftOut = text.length + before - head.length - tail.length;
  return { text: `${head}${leftOutLine(leftOut)}${tail}`, leftOut };
}

function leftOutLine(count: number): string {
  return `\n… ${countOf(count)} characters left out …\n`;
}

/**
 * Control characters except the tab, line separators and direction changes: each may make a terminal or a model see other lines
 * than there are.
 */
const UNSAFE = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;
const ALL_UNSAFE = new RegExp(UNSAFE, 'g');

export function hasUnsafe(text: string): boolean {
  return UNSAFE.test(text);
}

/** `text` with each unsafe character escaped. */
export function escapedUnsafe(text: string): string {
  return text.replace(ALL_UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** `text` on one line, control characters shown as escapes, at most `maxChars` long with `…` at a cut; more of it is not read. */
export function oneLine(text: string, maxChars: number): string {
  const begin = text.slice(0, maxChars + 1);
  const shown = escapedUnsafe(begin.replace(/\r\n|\n|\r/g, ' ⏎ ').replaceAll('\t', '\\u0009'));
  if (shown.length <= maxChars) return shown;
  const head = shown.slice(0, maxChars - 1);
  return `${head.replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The same; a cut line ends with the length of the whole text. */
export function countedLine(text: string, maxChars: number): string {
  const line = oneLine(text, maxChars);
  if (!line.endsWith('…') || line === oneLine(text, maxChars + 1)) return line;
  const note = ` (${countOf(text.length)} characters)`;
  return `${oneLine(text, maxChars - note.length)}${note}`;
}

/** A list of names for a sentence: the first ones, each on one line, and how many more there are. */
export function someNames(names: readonly string[], most = SHOWN_NAMES): string {
  const shown = names.slice(0, most).map((name) => oneLine(name, SHOWN_CHARS));
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const SHOWN_NAMES = 5;
const SHOWN_CHARS = 200;

/** `1 process`, `2 processes`. */
export function countedNoun(count: number, one: string, many = `${one}s`): string {
  return `${countOf(count)} ${count === 1 ? one : many}`;
}

/** `2163` → `2,163`. */
export function countOf(count: number): string {
  return count.toLocaleString('en-US');
}

/** `text` without control characters other than line feeds and tabs. */
export function withoutControl(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}

/** `text` without what a terminal drops, since it has neither width nor a mark: format characters and selectors of variants. */
export function withoutUnseen(text: string): string {
  return text.replace(/(?!\s)[\p{C}\p{Default_Ignorable_Code_Point}]/gu, '');
}

/** Everything that a terminal or a model may take for the end of a line. */
const LINE_BREAKS = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;

/** `text` with `| ` before each line, so that foreign text cannot look like the bridge's own. */
export function quotedLines(text: string, indent = ''): string {
  return `${indent}| ${withoutControl(text.replace(LINE_BREAKS, '\n')).replaceAll('\n', `\n${indent}| `)}`;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
