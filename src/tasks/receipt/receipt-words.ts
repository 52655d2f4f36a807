// Pure: the words of one command of a line, as far as a receipt needs them.
import { basename } from 'node:path';

/** One command without what stands before it, and what that was. */
export interface Bare {
  readonly command: string;
  /** `then`, `do` and the like, the last one before the command; empty without one. */
  readonly keyword: string;
  /** Brackets that open a group before it. */
  readonly opens: number;
  /** It took the shell's place (`exec`): what comes behind it did not run. */
  readonly isExec: boolean;
  /** `!` stands before it: it fails when the command passes. */
  readonly isInverted: boolean;
}

const QUOTED = /'[^']*'|"(?:\\[^]|[^"\\])*"/g;
/** White space, and what holds white space that separates nothing. */
const SPACE = /'[^']*'|"(?:\\[^]|[^"\\])*"|\\\n|\\[^]|\s+/g;
const WORD = /(?:'[^']*'|"(?:\\[^]|[^"\\])*"|\\[^]|[^\s'"\\])+/g;
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=(?:'[^']*'|"(?:\\[^]|[^"\\])*"|\\[^]|[^\s'"\\])*(?:\s+|$)/;
const BRACKET = /^(?:\(|\{(?=\s|$))\s*/;
const KEYWORD = /^(if|then|elif|else|do|while|until)(?:\s+|$)/;
/** Programs that start the one behind them, with the options that they may have before it. */
const LAUNCHERS: readonly RegExp[] = [
  /^(?:npx|bunx|pnpx)(?: (?:-y|--yes|--no-install|--bun))* /,
  /^(?:npm|pnpm|yarn|bun) (?:exec|x|dlx)(?: --)? /,
  /^(?:pnpm|yarn|bun) (?=(?:vitest|jest|mocha|playwright|ava)(?: |$))/,
  /^(?:poetry|uv|pipenv|pdm|hatch|rye) run /,
  /^python[\d.]* -m (?=pytest)/,
  /^bundle exec /,
  /^timeout(?: -[ks] \S+| -\S+)* \S+ /,
  /^nice(?: -n ?-?\d+| -\d+| --adjustment=\S+)* /,
  /^env(?: -u \S+| -\S+)* /,
  /^stdbuf(?: -\S+)+ /,
  /^(?:time(?: -p)?|command|sudo|nohup|xvfb-run(?: -a)?) /,
  /^(?:cross-env|dotenv)(?: --)? /,
];
/** Without a program, `exec` only redirects. */
const EXEC = /^exec (?![\d&]*[<>])/;

/** The command that a text holds, without assignments, keywords and launchers before it. */
export function bareOf(text: string): Bare {
  const before = { keyword: '', opens: 0, isExec: false, isInverted: false };
  let rest = text.replaceAll(SPACE, (space) => (/^\s|^\\\n/.test(space) ? ' ' : space)).trim();
  for (;;) {
    const length = rest.length;
    rest = rest.replace(ASSIGNMENT, '').replace(KEYWORD, (_whole, keyword: string) => {
      before.keyword = keyword;
      return '';
    });
    rest = rest.replace(BRACKET, () => {
      before.opens++;
      return '';
    });
    rest = rest.replace(/^!\s+/, () => {
      before.isInverted = true;
      return '';
    });
    rest = rest.replace(EXEC, () => {
      before.isExec = true;
      return '';
    });
    for (const launcher of LAUNCHERS) rest = rest.replace(launcher, '');
    if (rest.length < length) continue;
    const [first = ''] = rest.match(WORD) ?? [];
    const command = rest.startsWith(first) ? unquoted(first) + rest.slice(first.length) : rest;
    return { ...before, command };
  }
}

/** The words of a command, without their quotes. */
export function wordsOf(command: string): string[] {
  return (command.match(WORD) ?? []).map(unquoted);
}

/** The name of its program. */
export function programOf(command: string): string {
  return basename(/^[^\s<>;]*/.exec(command)?.[0] ?? '');
}

/** The same text, as long as before, with quoted parts as `_`: what is left there has its meaning for the shell. */
export function withoutQuoted(text: string): string {
  return text.replaceAll(/\\[^]/g, '__').replaceAll(QUOTED, (quoted) => '_'.repeat(quoted.length));
}

/** The file that takes what it prints; undefined when that is shown. */
export function outputFileOf(command: string): string | undefined {
  const found = /(?<![2-9>])>{1,2}\|?\s*(?!&|>|\s|\/dev\/(?:stdout|stderr|tty))/.exec(withoutQuoted(command));
  if (found === null) return undefined;
  return wordsOf(command.slice(found.index + found[0].length))[0];
}

function unquoted(word: string): string {
  return word.replaceAll(
    /'([^']*)'|"((?:\\[^]|[^"\\])*)"|\\([^])/g,
    (_whole, ...[one, two, char]: string[]) => one ?? two ?? char ?? '',
  );
}
