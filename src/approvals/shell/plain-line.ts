// Pure: the shell lines that an allow rule can cover.
import { MAX_LINE_CHARS } from './shell-part.js';
import { hasUnseen } from '../../base/text/unseen-characters.js';

/** One word of a plain command, its quotes taken away. */
export interface PlainWord {
  readonly value: string;
  /** The shell may put names of files in its place. All of them begin with the word's literal beginning, which is no dash. */
  readonly isGlob: boolean;
}

export interface PlainCommand {
  /** As it stands in the line. */
  readonly text: string;
  readonly words: readonly PlainWord[];
}

export type PlainLine = { readonly commands: readonly PlainCommand[] } | { readonly fault: string };

const BLANKS = /[ \t]+/y;
const OPERATOR = /&&|\|\||;|\||\n/y;
/** A piece of a word: unquoted, in single quotes, or in double quotes without an expansion. */
const PIECE = /([A-Za-z0-9_./:@%+,=*?~^-]+)|'([^']*)'(?!')|"([^"$`\\!]*)"/y;
/** Within a word zsh may be set to take `~` and `^` for wildcards. */
const WILDCARD = /[*?~^]/;
/** A wildcard behind a literal beginning. No dash: a name of a file must not become an option. */
const GLOB = /^[A-Za-z0-9_./@][A-Za-z0-9_./:@%+,=*?~^-]*$/;
/** Elsewhere than behind letters or digits a tilde may stand for a home folder. */
const LOOSE_TILDE = /(?:^|[^A-Za-z0-9~^])[~^]/;
/** zsh puts the program's path in place of `=ls`, and may be set to do so behind `=` and `:`. */
const PROGRAM_PATH = /(?:^|[=:])=/;
const SHOWN_CHARS = 20;

/**
 * Reads a line of simple commands joined by `&&`, `||`, `;`, `|` and line ends. Each word is literal, or has `*` or `?` behind
 * a literal beginning. bash and zsh read such a line alike, whichever of their options are set. Anything else is an error.
 * Which of the two runs it is not known: Claude Code 2.1.197 and 2.1.330 use `CLAUDE_CODE_SHELL` or `SHELL` where that is one of
 * them, else zsh where it is installed, else bash.
 */
export function readPlainLine(text: string): PlainLine {
  if (text.length > MAX_LINE_CHARS) return { fault: `it is longer than ${MAX_LINE_CHARS} characters` };
  const line = withoutOuterBlanks(text);
  if (hasUnseen(line)) return { fault: 'it holds characters that cannot be seen' };
  const commands: PlainCommand[] = [];
  let words: PlainWord[] = [];
  let from = 0;
  for (let at = 0; at < line.length;) {
    const blanks = matchAt(BLANKS, line, at);
    const operator = matchAt(OPERATOR, line, at);
    if (blanks !== undefined) at += blanks[0].length;
    else if (operator === undefined) {
      const word = wordAt(line, at);
      if (typeof word === 'string') return { fault: word };
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
  // An empty command: the line is empty, or an operator stands at its end or beside another.
  if (words.length === 0) return { fault: 'a command is missing in it' };
  commands.push({ text: line.slice(from).trim(), words });
  return { commands };
}

/** The word that begins at `start`, and where it ends; a text says why it is not plain. */
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
    return `a rule covers plain words alone, not ${line.slice(at, at + SHOWN_CHARS)}`;
  const shown = line.slice(start, at);
  const isGlob = WILDCARD.test(open);
  if (isGlob && (shown !== open || !GLOB.test(open) || LOOSE_TILDE.test(open)))
    return `a rule covers wildcards behind a plain beginning alone, not ${shown}`;
  if (at === start || PROGRAM_PATH.test(open)) return `a rule covers plain words alone, not ${shown || next}`;
  return { word: { value, isGlob }, end: at };
}

/** Shells take fewer characters for blanks than `trim` does. */
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
