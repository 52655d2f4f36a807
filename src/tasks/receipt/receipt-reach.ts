// Pure: whether a command of a line certainly ran.
import { IN_TEXT, type LinePart } from './receipt-commands.js';
import { programOf, withoutQuoted, wordsOf } from './receipt-words.js';

/** Programs of the shell behind which a name may mean something else, or nothing runs. */
const CHANGES_WHAT_RUNS: ReadonlySet<string> = new Set(
  'alias builtin enable eval function hash return trap'.split(' '),
);
/** They do not fail, and print no counts. */
const HARMLESS: ReadonlySet<string> = new Set(['', 'cd', 'export', 'set', 'echo', 'clear']);

/** Whether the command at that place has run, with the programs that it names, if the line ended with 0. */
export function hasRun(parts: readonly LinePart[], index: number): boolean {
  const part = parts[index];
  if (part === undefined || changesPath(part)) return false;
  const before = parts.slice(0, index);
  return (
    !before.some((each, at) => mayChangeWhatRuns(each, before[at - 1])) &&
    !isInBody(parts.slice(0, index + 1)) &&
    [index, ...part.groups].every((at) => at !== IN_TEXT && !isBehindOr(parts, at))
  );
}

/** Whether it has run, however the line ended. A command behind `&&` has when what is before it cannot fail, or when all of its list passed. */
export function hasCertainlyRun(
  parts: readonly LinePart[],
  index: number,
  { exitCode, output }: { readonly exitCode: number | null; readonly output: string },
): boolean {
  if (!hasRun(parts, index)) return false;
  const before = parts.slice(0, index);
  if (exitCode !== 0 && before.some(({ command }) => /^(?:exit|set -\w*e)/.test(command))) return false;
  const hasListPassed =
    exitCode === 0 && parts.slice(index).every(({ then }) => ['&&', '|', ''].includes(then));
  const conditions = [index, ...(parts[index]?.groups ?? [])].flatMap((at) => listBefore(parts, at));
  return hasListPassed || conditions.every((part) => part.then !== '&&' || isHarmless(part, output));
}

/** Whether a command cannot have ended the line with a failure. */
export function isHarmless({ command }: LinePart, output: string): boolean {
  const program = programOf(command);
  if (program !== 'cd') return HARMLESS.has(program);
  // A `cd` that failed says so.
  return !/2>|&>/.test(command) && !/(?:^|[ :])cd: /m.test(output);
}

/** `a || npm test`: in the same list, it runs only if something failed. */
function isBehindOr(parts: readonly LinePart[], index: number): boolean {
  return listBefore(parts, index).some(({ then }) => then === '||');
}

/** What stands before it in the same list. */
function listBefore(parts: readonly LinePart[], index: number): LinePart[] {
  const before = parts.slice(0, index);
  const start = before.findLastIndex(({ then }) => then === ';' || then === '&');
  return before.slice(start + 1);
}

/** Of an `if` or of a loop, which may be left out. */
function isInBody(parts: readonly LinePart[]): boolean {
  let depth = 0;
  for (const { keyword, command } of parts) {
    if (keyword === 'then' || keyword === 'do') depth++;
    if (keyword === 'elif' || /^(?:fi|done)(?:[ )]|$)/.test(command)) depth--;
  }
  return depth > 0;
}

function mayChangeWhatRuns(part: LinePart, previous: LinePart | undefined): boolean {
  const { command, isExec } = part;
  const program = programOf(command);
  if (isExec || CHANGES_WHAT_RUNS.has(program) || changesPath(part)) return true;
  // A function may have the program's name.
  if (/[\w.-]\s*\(\s*\)/.test(withoutQuoted(part.text))) return true;
  if (program === 'set') return /\s(?:-\w*[nt]\w*|noexec|onecmd)(?:\s|$)/.test(command);
  return program === 'exit' && !isExitWithFailure(command, previous);
}

/** With another number than 0, the line would have ended with that. */
function isExitWithFailure(command: string, previous: LinePart | undefined): boolean {
  const [, code, ...more] = wordsOf(command);
  // Without a number, it is that of the command that failed before it.
  if (command === 'exit') return previous?.then === '||';
  return more.length === 0 && /^\d+$/.test(code ?? '') && Number(code) % 256 !== 0;
}

function changesPath({ text }: LinePart): boolean {
  return /(?:^|[\s"'])PATH\+?=/.test(text);
}
