// Pure: recognizes harmless uses of shell builtins. Any other use may run or evaluate its arguments.
import type { ShellWord } from './shell-part.js';
import { changesCommands, isPlainName } from './special-variables.js';

type AcceptsArguments = (args: readonly ShellWord[]) => boolean;

const NUMBER = /^([-+]?\w*|%\S*)$/;
const KNOWN_NUMBER = /^"?\$[?!#$]"?$/;
const SET_NAMES = /^(pipefail|errexit|nounset|xtrace|allexport|noglob|noclobber|verbose|errtrace|functrace)$/;
const SHOPT_NAMES =
  /^(globstar|nullglob|dotglob|failglob|nocaseglob|nocasematch|inherit_errexit|lastpipe|extglob)$/;
/** Quoted, this is text, but a builtin may evaluate it. */
const EVALUATED = /[`[]|\$[({]/;
const DECLARATION: AcceptsArguments = (args) => args.every(isDeclared);
const NAMES: AcceptsArguments = (args) => args.every(isNameOrOption);
const NUMBERS: AcceptsArguments = (args) =>
  args.every((one) => (one.kind === 'literal' && NUMBER.test(one.value)) || KNOWN_NUMBER.test(one.text));
const JOBS: AcceptsArguments = (args) =>
  args.every((one) => one.kind === 'literal' && /^(%\S*|\d+|-[lprsdhna]+)$/.test(one.value));

const harmlessUses: ReadonlyMap<string, AcceptsArguments> = new Map([
  ['export', DECLARATION],
  ['readonly', DECLARATION],
  ['declare', DECLARATION],
  ['typeset', DECLARATION],
  ['local', DECLARATION],
  ['private', DECLARATION],
  ['unset', NAMES],
  ['read', (args) => NAMES(withoutValues(args, /^-[rs]*[pdntu]$/))],
  ['mapfile', (args) => NAMES(withoutValues(args, /^-t?[dnsu]$/))],
  ['readarray', (args) => NAMES(withoutValues(args, /^-t?[dnsu]$/))],
  ['getopts', (args) => args.length === 2 && NAMES(args.slice(1))],
  ['exit', NUMBERS],
  ['return', NUMBERS],
  ['break', NUMBERS],
  ['continue', NUMBERS],
  ['shift', NUMBERS],
  ['umask', NUMBERS],
  ['ulimit', NUMBERS],
  ['wait', (args) => args.every((one) => KNOWN_NUMBER.test(one.text)) || JOBS(args)],
  ['jobs', JOBS],
  ['fg', JOBS],
  ['bg', JOBS],
  ['disown', JOBS],
  ['hash', (args) => args.length === 1 && args[0]?.value === '-r'],
  ['set', acceptsSet],
  [
    'shopt',
    (args) =>
      args.every(
        ({ kind, value }) => kind === 'literal' && (SHOPT_NAMES.test(value) || /^-[suq]$/.test(value)),
      ),
  ],
  ['printf', acceptsPrintf],
  ['test', acceptsTest],
  ['[', acceptsTest],
  ['source', acceptsFile],
  ['.', acceptsFile],
]);

/** True when the builtin does not evaluate these arguments. */
export function isHarmlessBuiltin(name: string, args: readonly ShellWord[]): boolean {
  return args.length === 0 || harmlessUses.get(name)?.(args) === true;
}

/** True for the path of a script file, which is not read here; false for standard input and open descriptors. */
export function isScriptFile(word: ShellWord): boolean {
  const path = word.kind === 'literal' ? word.value : /^"?\$HOME(\/[\w./-]+)"?$/.exec(word.text)?.[1];
  if (path === undefined || path === '' || path.startsWith('-')) return false;
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  return (
    !names.some((name) => name === 'dev' || name === 'proc') && !/^(stdin|\d*)$/.test(names.at(-1) ?? '')
  );
}

function isDeclared({ kind, value, text }: ShellWord): boolean {
  if (kind === 'literal' && /^[-+]/.test(value)) return /^([-+][xrgapAFf]+|--)$/.test(value);
  const source = kind === 'literal' ? value : text;
  const sign = source.indexOf('=');
  if (sign === -1) return kind === 'literal' && isPlainName(value);
  return !changesCommands(
    source.slice(0, sign).replace(/\+$/, ''),
    kind === 'literal' ? value.slice(sign + 1) : undefined,
  );
}

function isNameOrOption({ kind, value }: ShellWord): boolean {
  return kind === 'literal' && (/^(-[rstvfaA]+|-t\d+)$/.test(value) || isPlainName(value));
}

/** Removes the values of options that take the next word. */
function withoutValues(args: readonly ShellWord[], valued: RegExp): ShellWord[] {
  return args.filter(({ kind, value }, index) => {
    const before = args[index - 1];
    const isValue = before?.kind === 'literal' && valued.test(before.value);
    if (isValue) return kind !== 'literal' || EVALUATED.test(value);
    return !(kind === 'literal' && valued.test(value));
  });
}

function acceptsSet(args: readonly ShellWord[]): boolean {
  const end = args.findIndex(({ value }) => value === '--');
  return args
    .slice(0, end === -1 ? undefined : end)
    .every(
      ({ kind, value }) => kind === 'literal' && (/^[-+][efuvxnoCET]+$/.test(value) || SET_NAMES.test(value)),
    );
}

/** zsh evaluates the arguments of number formats, so an unknown argument is accepted only for text formats. */
function acceptsPrintf(args: readonly ShellWord[]): boolean {
  const [format, ...rest] = args[0]?.value === '--' ? args.slice(1) : args;
  if (format === undefined || typeof format.tokens[0] !== 'string' || format.tokens[0] === '-') return false;
  if (rest.every(({ kind, value }) => kind === 'literal' && /^[-+]?[\d.]+$/.test(value)))
    return isOneWord(format);
  return format.kind === 'literal' && !/%(?![sbq%]|-?\d+s)/.test(format.value);
}

function acceptsTest(args: readonly ShellWord[]): boolean {
  return args.every((word, index) => {
    if (word.kind === 'literal')
      return !/^-[vR]$/.test(word.value) && (!EVALUATED.test(word.value) || word.value === '[');
    const next = args[index + 1];
    return word.kind === 'unknown' && isOneWord(word) && (next === undefined || next.kind === 'literal');
  });
}

function acceptsFile([file]: readonly ShellWord[]): boolean {
  return file !== undefined && isScriptFile(file);
}

/** True when the expansion is always one word: it is quoted or a number. */
function isOneWord({ kind, text }: ShellWord): boolean {
  if (kind === 'literal') return true;
  return (
    KNOWN_NUMBER.test(text) || (/^"[^"]*"$/.test(text) && !/@/.test(text)) || /^"\$\([^"]*\)"$/.test(text)
  );
}
