// Pure: a command line as a list of its commands, as far as a receipt needs it. No rule about what may run relies on this.
import { bareOf, withoutQuoted, type Bare } from './receipt-words.js';

/** One command of a line, and what separates it from the next one. */
export interface LinePart extends Bare {
  /** As it was written: an assignment or a keyword alone is no command, and ends or begins a list too. */
  readonly text: string;
  /** `&&`, `||`, `;`, `|`, `&`; empty behind the last one. */
  readonly then: string;
  /** The places of the commands with which the groups around it begin; `IN_TEXT` where its output becomes text of another command. */
  readonly groups: readonly number[];
}

/** Inside `$(…)`. */
export const IN_TEXT = -1;

const SEPARATORS = ['&&', '||', '|&', ';', '|', '&', '\n'] as const;
/** The longest beginning of a here-document that is looked for. */
const MAX_HERE_CHARS = 200;
/** Text that a here-document's command runs, and does not only read. */
const RUNS_ITS_INPUT = /(?:^|[\s/])(?:ba|z|da|k)?sh(?: -\S+)*\s*$/;
/** A shell with the line that it runs. */
const SHELL_TEXT =
  /^(?:\S*\/)?(?:ba|z|da|k)?sh(?: -\w+)*? -\w*c (?:'([^']*)'|"((?:[^"\\]|\\[^])*)")((?: +\d?>\S+)*)$/;
const HERE_DOCUMENT = /^<<(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([\w.-]+))/;

/** Quotes hold a separator together; what nests deeper is left as it is. Comments and here-documents are no commands. */
export function lineParts(line: string): LinePart[] {
  const parts: LinePart[] = [];
  const groups: number[] = [];
  /** The last lines of here-documents that begin at the next line. */
  const ends: { readonly word: string; readonly isIndented: boolean }[] = [];
  let quote = '';
  let text = '';
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at);
    if (char === '\\' && quote !== "'") {
      text += line.slice(at, at + 2);
      at++;
      continue;
    }
    if (quote !== '') {
      if (char === quote) quote = '';
      text += char;
      continue;
    }
    if (char === "'" || char === '"') {
      quote = char;
      text += char;
      continue;
    }
    if (char === '#' && /(?:^|[\s(])$/.test(text)) {
      at = endOfLine(line, at) - 1;
      continue;
    }
    const here = line.startsWith('<<<', at) ? null : HERE_DOCUMENT.exec(line.slice(at, at + MAX_HERE_CHARS));
    if (here !== null && !text.endsWith('<') && !RUNS_ITS_INPUT.test(text)) {
      const [whole, dash = '', ...words] = here;
      ends.push({ word: words.find((word) => word !== undefined) ?? '', isIndented: dash !== '' });
      text += whole;
      at += whole.length - 1;
      continue;
    }
    // `2>&1` and `&>` are redirections.
    const isRedirection = char === '&' && (line.charAt(at - 1) === '>' || line.charAt(at + 1) === '>');
    const separator = isRedirection ? undefined : SEPARATORS.find((one) => line.startsWith(one, at));
    if (separator === undefined) {
      text += char;
      continue;
    }
    add(parts, groups, text, separator);
    text = '';
    at += separator.length - 1;
    if (separator !== '\n') continue;
    for (const end of ends.splice(0)) at = endOfHereDocument(line, at + 1, end) - 1;
  }
  add(parts, groups, text, '');
  const last = parts.at(-1);
  // A last newline or semicolon separates nothing.
  if (last?.then === ';') parts[parts.length - 1] = { ...last, then: '' };
  return parts;
}

/** Where the line that `at` lies in ends: its newline, or the end of the text. */
function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** Where the text after its last line begins; the end of the text if there is none. */
function endOfHereDocument(
  text: string,
  start: number,
  { word, isIndented }: { readonly word: string; readonly isIndented: boolean },
): number {
  for (let at = start; at < text.length;) {
    const end = endOfLine(text, at);
    const line = text.slice(at, end);
    at = end + 1;
    if ((isIndented ? line.replace(/^\t+/, '') : line) === word) return Math.min(at, text.length);
  }
  return text.length;
}

/** `groups`: where the groups around it begin. */
function add(parts: LinePart[], groups: number[], text: string, separator: string): void {
  const then = separator === '\n' ? ';' : separator === '|&' ? '|' : separator;
  const last = parts.at(-1);
  if (/^\s*\}/.test(text) && last !== undefined) {
    // What it ends has the status and the redirections of its last command.
    groups.pop();
    parts[parts.length - 1] = { ...last, command: last.command + text.replace('}', ''), then };
    return;
  }
  const bare = bareOf(text);
  for (let open = 0; open < bare.opens; open++) groups.push(parts.length);
  const around = [...groups];
  const command = closed(bare.command, groups);
  const isAssignment = /(?:^|\s)[A-Za-z_]\w*\+?=/.test(text);
  if (command === '' && bare.keyword === '' && !isAssignment) return;
  const inner = SHELL_TEXT.exec(command);
  if (inner === null) {
    parts.push({ ...bare, command, text, then, groups: around });
    return;
  }
  const [, single, double = '', redirected = ''] = inner;
  const start = parts.length;
  const own = lineParts(single ?? double.replaceAll(/\\(["\\$`])/g, '$1'));
  for (const [at, part] of own.entries()) {
    const within = part.groups.map((group) => (group === IN_TEXT ? group : group + start));
    parts.push({
      ...part,
      isInverted: part.isInverted || (at === 0 && bare.isInverted),
      groups: [...around, start, ...within],
      ...(at === own.length - 1 && { then, command: part.command + redirected }),
    });
  }
}

/** Without the brackets that close a group: those are taken from `groups`, and open ones of a text are added. */
function closed(command: string, groups: number[]): string {
  const marks = withoutQuoted(command);
  let text = '';
  let depth = 0;
  for (let at = 0; at < command.length; at++) {
    const mark = marks.charAt(at);
    if (mark === '(') depth++;
    const isClosing = mark === ')' && depth === 0 && (groups.pop() ?? IN_TEXT) !== IN_TEXT;
    if (mark === ')' && depth > 0) depth--;
    text += isClosing ? ' ' : command.charAt(at);
  }
  for (; depth > 0; depth--) groups.push(IN_TEXT);
  return text.trim();
}
