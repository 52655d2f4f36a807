// Pure: cuts, quotes and shows text. The board's page shares this file, so it imports nothing.

/** The most bytes that a cut can leave of a UTF-8 character, which has at most four. */
const MAX_CUT_BYTES = 3;
const SHOWN_NAMES = 5;
const SHOWN_CHARS = 200;

/** The length of the longest prefix of `bytes` that does not end inside a UTF-8 character. */
export function wholeUtf8End(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(MAX_CUT_BYTES, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** The longest prefix of `text` that is at most `maxBytes` long in UTF-8, cut between characters; more of it is not encoded. */
export function headBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.slice(0, maxBytes + 1));
  if (bytes.length <= maxBytes) return text;
  const head = bytes.subarray(0, maxBytes);
  return head.toString('utf8', 0, wholeUtf8End(head));
}

/** The longest end of `text` that is at most `maxBytes` long in UTF-8, cut between characters. */
export function tailBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  const tail = bytes.subarray(bytes.length - maxBytes);
  const start = tail.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return start === -1 ? '' : tail.toString('utf8', start);
}

/** The last `maxChars` UTF-16 units of `text`, never beginning inside a surrogate pair. */
export function tailChars(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return text.slice(-maxChars).replace(/^[\udc00-\udfff]/, '');
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
interface CutText {
  readonly text: string;
  readonly leftOut: number;
}

/** The same for a text that may have been cut before: the line counts what both cuts left out. */
export function cutMiddle(whole: CutText, maxChars: number): CutText {
  const { text } = whole;
  if (text.length <= maxChars) return whole;
  const half = Math.floor(maxChars / 2);
  const head = text.slice(0, half).replace(/[\ud800-\udbff]$/, '');
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
  return text.replace(ALL_UNSAFE, escapeOf);
}

/** Terminals, editors and shells disagree about these: a person may see another line than the shell. U+2800 looks blank. */
const UNSEEN_CHARACTER =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202f\u2800\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
/** Visible as part of an emoji: a variation selector after it, and a joiner between two. */
const PART_OF_EMOJI =
  /(?<=\p{Extended_Pictographic})\ufe0f|(?<=\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)\u200d(?=\p{Extended_Pictographic})/u;
const UNSEEN = new RegExp(`(?!${PART_OF_EMOJI.source})${UNSEEN_CHARACTER.source}`, 'u');
const ALL_UNSEEN = new RegExp(UNSEEN, 'gu');

/** True when a person would not see all of the text. */
export function hasUnseen(text: string): boolean {
  return UNSEEN.test(text);
}

/** `text` with each unseen character escaped. */
export function shownCharacters(text: string): string {
  return text.replace(ALL_UNSEEN, escapeOf);
}

function escapeOf(char: string): string {
  const digits = (char.codePointAt(0) ?? 0).toString(16);
  return digits.length > 4 ? `\\u{${digits}}` : `\\u${digits.padStart(4, '0')}`;
}

/** `text` without control characters other than line feeds and tabs. */
export function withoutControl(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}

/** `text` without what a terminal drops, since it has neither width nor a mark: format characters and selectors of variants. */
export function withoutUnseen(text: string): string {
  return text.replace(/(?!\s)[\p{C}\p{Default_Ignorable_Code_Point}]/gu, '');
}

/** `text` on one line, control characters shown as escapes, at most `maxChars` long with `…` at a cut; more of it is not read. */
export function oneLine(text: string, maxChars: number): string {
  const begin = text.slice(0, maxChars + 1);
  const shown = escapedUnsafe(begin.replace(/\r\n|\n|\r/g, ' ⏎ ').replaceAll('\t', '\\u0009'));
  if (shown.length <= maxChars) return shown;
  return `${shown.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The same; a cut line ends with the length of the whole text. */
export function countedLine(text: string, maxChars: number): string {
  const line = oneLine(text, maxChars);
  if (!line.endsWith('…') || line === oneLine(text, maxChars + 1)) return line;
  const note = ` (${countOf(text.length)} characters)`;
  return `${oneLine(text, maxChars - note.length)}${note}`;
}

/** `text` on one line with each unseen character escaped, at most `maxChars` long with `…` at a cut. */
export function shownLine(text: string, maxChars = Number.MAX_SAFE_INTEGER): string {
  return oneLine(shownCharacters(text.replace(/\r\n?/g, '\n')), maxChars);
}

/** A list of names for a sentence: the first ones, each on one line, and how many more there are. */
export function someNames(names: readonly string[], most = SHOWN_NAMES): string {
  const shown = names.slice(0, most).map((name) => oneLine(name, SHOWN_CHARS));
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** `1 process`, `2 processes`. */
export function countedNoun(count: number, one: string, many = `${one}s`): string {
  return `${countOf(count)} ${count === 1 ? one : many}`;
}

/** `2163` → `2,163`. */
export function countOf(count: number): string {
  return count.toLocaleString('en-US');
}

/** Everything that a terminal or a model may take for the end of a line. */
const LINE_BREAKS = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;

/** `text` with `| ` before each line, so that foreign text cannot look like the bridge's own. */
export function quotedLines(text: string, indent = ''): string {
  return `${indent}| ${withoutControl(text.replace(LINE_BREAKS, '\n')).replaceAll('\n', `\n${indent}| `)}`;
}

/** What a shell reads as it stands. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/** A word of a command line, quoted where a shell needs it. `~` stands only where a shell replaces it, which it does outside quotes. */
export function shellWord(path: string, homeDir: string): string {
  if (!PLAIN.test(path)) return `'${path.replaceAll("'", String.raw`'\''`)}'`;
  return homeDir !== '/' && path.startsWith(`${homeDir}/`) ? `~${path.slice(homeDir.length)}` : path;
}

/**
 * A sequence of ECMA-48: CSI; a string (OSC, DCS, SOS, PM, APC), which the next sequence or the end of the text cuts short; or
 * another one. A longer string is taken for text: a program that does not end one would hide all of its output.
 */
const SEQUENCE =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u0018\u001a\u001b]{0,4096}(?:\u0007|\u001b\\|[\u0018\u001a]|(?=\u001b)|$)|\u001b[ -/]*[0-~]/g;

/**
 * Output as a person reads it: without escape sequences and control characters. Of a line that was written over (a progress bar)
 * what was written last is shown; backspaces remove what is before them.
 */
export function plainText(raw: string): string {
  const text = raw.replace(SEQUENCE, '').replaceAll('\r\n', '\n');
  return withoutControl(text) === text ? text : text.split('\n').map(plainLine).join('\n');
}

function plainLine(line: string): string {
  const written = line.replace(/\r+$/, '');
  let shown = '';
  for (const char of written.slice(written.lastIndexOf('\r') + 1))
    shown = char === '\b' ? shown.slice(0, -1) : shown + withoutControl(char);
  return shown;
}
