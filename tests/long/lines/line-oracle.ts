// Runs lines that were allowed, and tells what they did that no rule allows.
import { coveringRule } from '../../../src/approvals/covering-rule.js';
import { readPlainLine, type PlainWord } from '../../../src/approvals/shell/plain-line.js';
import type { UserRule } from '../../../src/approvals/user-rules.js';
import { expectedPlaces, type LineSandbox, type LineShell, type Started } from './line-sandbox.js';

/** Lines that one start of the sandbox runs. */
const BATCH = 500;

export interface Violation {
  readonly shell: LineShell;
  readonly line: string;
  readonly what: string;
}

/** Runs the lines in the shell. Each violation names its line; those that only change files are looked for unless told otherwise. */
export async function violationsOf(
  sandbox: LineSandbox,
  shell: LineShell,
  lines: readonly string[],
  rules: readonly UserRule[],
  withWriters = true,
): Promise<Violation[]> {
  const found: Violation[] = [];
  for (let at = 0; at < lines.length; at += BATCH) {
    const batch = lines.slice(at, at + BATCH);
    const { started, hasChangedFiles } = await sandbox.run(shell, batch);
    for (const [index, line] of batch.entries()) {
      for (const one of started[index] ?? []) {
        const what = faultOf(line, one, rules);
        if (what !== undefined) found.push({ shell, line, what });
      }
    }
    if (hasChangedFiles && !withWriters) await sandbox.reset();
    else if (hasChangedFiles) found.push(...(await writersOf(sandbox, shell, batch)));
  }
  return found;
}

/** A line that changes files does so again when it runs alone, unless it only removed one. */
async function writersOf(
  sandbox: LineSandbox,
  shell: LineShell,
  batch: readonly string[],
): Promise<Violation[]> {
  await sandbox.reset();
  const [line = '', more] = batch;
  const { hasChangedFiles } = await sandbox.run(shell, batch);
  if (!hasChangedFiles) return [];
  if (more === undefined) {
    await sandbox.reset();
    return [{ shell, line, what: 'it writes or removes a file' }];
  }
  const half = Math.ceil(batch.length / 2);
  return [
    ...(await writersOf(sandbox, shell, batch.slice(0, half))),
    ...(await writersOf(sandbox, shell, batch.slice(half))),
  ];
}

function faultOf(line: string, { words, places }: Started, rules: readonly UserRule[]): string | undefined {
  const shown = JSON.stringify(words);
  if (places !== expectedPlaces) return `it changes PATH or HOME for ${shown}`;
  const literal = words.map((value) => ({ value, isGlob: false }));
  if (coveringRule(rules, { text: line, words: literal }) === undefined)
    return `it starts ${shown}, which no rule allows`;
  const plain = readPlainLine(line);
  if ('reason' in plain) {
    const spelled = line.replaceAll(/['"\\]/g, '');
    const option = words.find((word) => word.startsWith('-') && !spelled.includes(word));
    return option === undefined ? undefined : `it gives the option ${option}, which it does not spell out`;
  }
  return plain.commands.some((command) => fits(command.words, words))
    ? undefined
    : `it starts ${shown}, which was not foreseen`;
}

/** Whether the words may become these arguments: a wildcard any number of names that begin as it does and are no options. */
function fits(words: readonly PlainWord[], args: readonly string[]): boolean {
  const [word, ...rest] = words;
  if (word === undefined) return args.length === 0;
  if (!word.isGlob) return args[0] === word.value && fits(rest, args.slice(1));
  if (fits(rest, args)) return true;
  const [arg] = args;
  const beginning = /^[^*?~^]*/.exec(word.value)?.[0] ?? '';
  return (
    arg !== undefined &&
    arg.toLowerCase().startsWith(beginning.toLowerCase()) &&
    !arg.startsWith('-') &&
    fits(words, args.slice(1))
  );
}
