// Pure: whether counts of tests in the output of a line are those of its test runs.
import type { LinePart } from './receipt-commands.js';
import { readingOf, type Runner } from './receipt-runners.js';
import { outputFileOf, programOf, wordsOf } from './receipt-words.js';

/**
 * `own`: nobody else can have printed counts. `perhaps`: another program of the line may have.
 * `none`: a part of the line prints text that it was told, or the runs themselves printed nothing.
 */
export type Trust = 'own' | 'perhaps' | 'none';

/** Programs that print nothing, or no text of others. */
const SILENT: ReadonlySet<string> = new Set(
  '[ [[ : break case cd chmod clear continue do done esac exit export false fi for local mkdir rm rmdir set shift sleep test then touch true umask unset wait'.split(
    ' ',
  ),
);
/** Programs that print a text that they read. */
const TEXT_PROGRAMS: ReadonlySet<string> = new Set(
  'awk base64 bat cat column cut egrep fgrep gawk grep head jq less more nl od perl rev rg sed sort strings tac tail tee tr uniq xargs xxd'.split(
    ' ',
  ),
);
/** Their first word is a pattern or a script. */
const WITH_PATTERN: ReadonlySet<string> = new Set('awk egrep fgrep gawk grep jq rg sed tr'.split(' '));
/** With a program in their arguments. */
const INLINE_PROGRAM =
  /^(?:node|bun|deno|tsx|python[\d.]*|ruby|perl|php|lua|(?:ba|z|da|k)?sh) (?:.* )?(?:-\w*[cepr]|--eval|--print|eval)(?: |=|$)/;

/** `runs`: the places of the test runs. `isCertain`: all of them have run. */
export function trustIn(
  parts: readonly LinePart[],
  runs: ReadonlyMap<number, Runner>,
  isCertain: boolean,
): { readonly trust: Trust; readonly isShownTwice: boolean } {
  const pipes = [...runs.keys()].map((index) => pipeFrom(parts, index));
  const filters = new Set(pipes.flatMap((pipe) => pipe.filters));
  const files = new Set(pipes.flatMap((pipe) => pipe.files));
  const others = parts.filter((part, at) => !runs.has(at) && !filters.has(part));
  const shown = others.filter((part) => {
    const read = filesOf(part.command);
    return isText(part) && read.length > 0 && read.every((file) => files.has(file));
  });
  const isShownTwice = shown.length > (pipes.some(({ isShown }) => isShown) ? 0 : 1);
  const hidden = shown.length > 0 ? [] : pipes.filter(({ isShown }) => !isShown);
  const isTold =
    others.some((part) => !shown.includes(part) && isText(part)) ||
    [...filters].some((part) => isText(part) && filesOf(part.command).length > 0) ||
    isForged(others);
  if (isTold || hidden.length === pipes.length) return { trust: 'none', isShownTwice };
  const isAlone = others.every((part) => shown.includes(part) || isSilent(part));
  const isForFailure = pipes.some(({ then }) => then === '||');
  const isOwn = hidden.length === 0 && (isAlone || (isCertain && !isForFailure));
  return { trust: isOwn ? 'own' : 'perhaps', isShownTwice };
}

/** What a test run prints goes through `filters`; `files` hold it. */
function pipeFrom(
  parts: readonly LinePart[],
  index: number,
): {
  readonly filters: readonly LinePart[];
  readonly files: readonly string[];
  readonly isShown: boolean;
  readonly then: string;
} {
  let end = index;
  while (parts[end]?.then === '|' && end + 1 < parts.length) end++;
  const pipe = parts.slice(index, end + 1);
  const written = pipe.flatMap(({ command }) => outputFileOf(command) ?? []);
  const copied = pipe.flatMap(({ command }) => (programOf(command) === 'tee' ? wordsAfter(command) : []));
  return {
    filters: pipe.slice(1),
    files: [...written, ...copied],
    isShown: written.length === 0,
    then: parts[end]?.then ?? '',
  };
}

/** Whether it prints text that it reads, or that it was told. */
function isText(part: LinePart): boolean {
  const { command } = part;
  if (outputFileOf(command) !== undefined) return false;
  if (programOf(command) === 'sed' && / -\w*i/.test(command)) return false;
  return TEXT_PROGRAMS.has(programOf(command)) || INLINE_PROGRAM.test(command);
}

function isSilent({ command }: LinePart): boolean {
  const program = programOf(command);
  return program === '' || outputFileOf(command) !== undefined || SILENT.has(program) || isEcho(program);
}

function isEcho(program: string): boolean {
  return program === 'echo' || program === 'printf';
}

/** Whether what the line's own words print reads as counts, or is not known. */
function isForged(parts: readonly LinePart[]): boolean {
  const codes = parts.flatMap(({ text }) => /^\s*(\w+)=\$\?\s*$/.exec(text)?.[1] ?? []);
  const code = new RegExp(
    String.raw`\$(?:\?|\{PIPESTATUS\[\d+\]\}${codes.map((name) => String.raw`|${name}\b|\{${name}\}`).join('')})`,
    'g',
  );
  const texts = parts
    .filter(({ command }) => isEcho(programOf(command)) && outputFileOf(command) === undefined)
    .map(({ command }) => wordsOf(command.replaceAll(code, '0')).slice(1).join(' '))
    .map((text) => text.replaceAll(String.raw`\n`, '\n'));
  if (texts.some((text) => /[$`\\]/.test(text))) return true;
  const anyRunner = [{ name: '' }];
  return ['\n', ''].some((between) => readingOf(anyRunner, texts.join(between)) !== undefined);
}

/** The files that a program which prints text is told to read. */
function filesOf(command: string): string[] {
  if (programOf(command) === 'tee') return [];
  const words = wordsAfter(command);
  return WITH_PATTERN.has(programOf(command)) && !/ -(?:e|-regexp)/.test(command) ? words.slice(1) : words;
}

/** Without options, their numbers, and redirections of what is printed. */
function wordsAfter(command: string): string[] {
  return wordsOf(command.replaceAll(/\d?>{1,2}(?:&\d| ?[^\s&]+)/g, ' '))
    .slice(1)
    .map((word) => word.replace(/^</, ''))
    .filter((word) => word !== '' && !/^[-+]|^\d+$/.test(word));
}
