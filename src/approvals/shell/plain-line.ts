// Pure: parses the shell lines that an allow rule can cover.
import { MAX_LINE_CHARS } from './shell-part.js';
import { hasUnseen } from '../../base/text/unseen-characters.js';

/** One word of a plain command, without its quotes. */
export interface PlainWord {
  readonly value: string;
  /** The shell may replace it by file names. All of them begin with the word's literal prefix, which is not a dash. */
  readonly isGlob: boolean;
}

export interface PlainCommand {
  /** As written in the line. */
  readonly text: string;
  readonly words: readonly PlainWord[];
}

export type PlainLine = { readonly commands: readonly PlainCommand[] } | { readonly reason: string };

const BLANKS = /[ \t]+/y;
const OPERATOR = /&&|\|\||;|\||\n/y;
/** A piece of a word: unquoted, in single quotes, or in double quotes without an expansion. */
const PIECE = /([A-Za-z0-9_./:@%+,=*?~^-]+)|'([^']*)'(?!')|"([^"$`\\!]*)"/y;
/** zsh has an option by which `~` and `^` within a word are wildcards. */
const WILDCARD = /[*?~^]/;
/** A wildcard after a literal prefix. The prefix is no dash, so that a file name cannot become an option. */
const GLOB = /^[A-Za-z0-9_./@][A-Za-z0-9_./:@%+,=*?~^-]*$/;
/** Except after letters or digits, a tilde may mean a home folder. */
const LOOSE_TILDE = /(?:^|[^A-Za-z0-9~^])[~^]/;
/** zsh replaces `=ls` with the program's path, and has an option to do so after `=` and `:`. */
const PROGRAM_PATH = /(?:^|[=:])=/;
const SHOWN_CHARS = 20;

/**
 * Parses a line of simple commands joined by `&&`, `||`, `;`, `|` and line ends. Each word is literal, or has `*` or `?` after a
 * literal prefix. bash and zsh read such a line alike, whatever their options are. For any other line, `reason` says why. It is
 * unknown which shell runs it: Claude Code 2.1.197 and 2.1.330 use `CLAUDE_CODE_SHELL` or `SHELL` if it is bash or zsh, else zsh
 * if installed, else bash.
 */
export function readPlainLine(text: string): PlainLine {
  if (text.length > MAX_LINE_CHARS) return { reason: `it is longer than ${MAX_LINE_CHARS} characters` };
  const line = withoutOuterBlanks(text);
  if (hasUnseen(line)) return { reason: 'it contains invisible characters' };
  const commands: PlainCommand[] = [];
  let words: PlainWord[] = [];
  let from = 0;
  for (let at = 0; at < line.length;) {
    const blanks = matchAt(BLANKS, line, at);
    const operator = matchAt(OPERATOR, line, at);
    if (blanks !== undefined) at += blanks[0].length;
    else if (operator === undefined) {
      const word = wordAt(line, at);
      if (typeof word === 'string') return { reason: word };
      words.push(word.word);
      at = word.end;
    } else {
      if (words.length === 0) break;
      commands.push({ text: line.slice(from, at).trim(), words });
      words = [];
      at += operator[0].length;
      from = at;
    }
  }
  // An empty command: the line is empty, ends with an operator, or has two operators in a row.
  if (words.length === 0) return { reason: 'it lacks a command before or after an operator' };
  commands.push({ text: line.slice(from).trim(), words });
  return { commands };
}

/** The word that begins at `start`, and its end; or a text that says why it is not plain. */
function wordAt(line: string, start: number): { readonly word: PlainWord; readonly end: number } | string {
  let at = start;
  let value = '';
  let open = '';
  for (let piece = matchAt(PIECE, line, at); piece !== undefined; piece = matchAt(PIECE, line, at)) {
    const [whole, unquoted, single, double] = piece;
    open += unquoted ?? '';
    value += unquoted ?? single ?? double ?? '';
    at += whole.length;
  }
  const next = line.slice(at, at + 1);
  if (next !== '' && !/[ \t\n;|&]/.test(next))
    return `a rule covers only plain words, not ${line.slice(at, at + SHOWN_CHARS)}`;
  const shown = line.slice(start, at);
  const isGlob = WILDCARD.test(open);
  if (isGlob && (shown !== open || !GLOB.test(open) || LOOSE_TILDE.test(open)))
    return `a rule covers a wildcard only after plain text, not ${shown}`;
  if (at === start || PROGRAM_PATH.test(open)) return `a rule covers only plain words, not ${shown || next}`;
  return { word: { value, isGlob }, end: at };
}

/** Not `trim`, which also removes characters that are no blanks for a shell. */
function withoutOuterBlanks(text: string): string {
  const isBlank = (at: number): boolean => ' \t\n'.includes(text.charAt(at));
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(start)) start++;
  while (start < end && isBlank(end - 1)) end--;
  return text.slice(start, end);
}

function matchAt(pattern: RegExp, line: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(line) ?? undefined;
}
