// Pure: finds the commands that another command runs, from its words. Only deny and ask rules use it.
import { basename } from 'node:path';
import { feeders, isRunnerOfUnknown, wrappers, type Wrapper } from './command-wrappers.js';
import { isHarmlessBuiltin } from './plain-builtins.js';
import { evaluators } from './shell-commands.js';
import type { ShellWord } from './shell-part.js';
import { isShell, shellText } from './shell-programs.js';
import { literalWord, unknownWord } from './shell-word.js';
import { changesCommands } from './special-variables.js';

/** A command that another command runs. */
export type Run =
  | { readonly kind: 'words'; readonly words: readonly ShellWord[] }
  /** Text that a shell reads. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unknown'; readonly text: string };

/** After an unknown option of a wrapper, each of this many words may be the command. */
const MAX_GUESSES = 8;
const GIT_VALUED =
  /^(-C|-c|--git-dir|--work-tree|--namespace|--config-env|--exec-path|--super-prefix|--attr-source)$/;
const FIND_RUNS = /^(-(exec|execdir|ok|okdir)|-x|-X|--exec|--exec-batch)$/;
/** Git settings whose value git never runs. */
const HARMLESS_GIT_SETTING =
  /^(user|author|committer|color|advice|init|push|pull|fetch|rebase|merge|commit|status|safe)\.\w+$|^core\.(quotepath|autocrlf|filemode|longpaths|abbrev|ignorecase)$/i;
const GIT_RUNS: Readonly<Record<string, RegExp>> = {
  bisect: /^run$/,
  submodule: /^foreach$/,
  rebase: /^(-[a-z]*x.*|--ex.*|-s.*|--str.*)$/,
  difftool: /./,
  mergetool: /./,
  'filter-branch': /./,
  grep: /^(-[a-zA-Z]*O.*|--open.*)$/,
  config:
    /^(alias|pager|include|includeif|filter)\.|\.(\w*command|\w*cmd|textconv|driver|\w*editor|\w*pager|hookspath|fsmonitor|helper|askpass|program|clean|smudge|process)$/i,
};

/** The command's name without its folder; undefined when it is not a literal. */
export function commandName(words: readonly ShellWord[]): string | undefined {
  const [name] = words;
  if (name?.kind !== 'literal') return undefined;
  return basename(name.value);
}

/** Index of git's subcommand, after git's own options. */
export function gitCommandAt(words: readonly ShellWord[]): number {
  let at = 1;
  while (at < words.length) {
    const word = words[at];
    if (word?.kind !== 'literal' || !word.value.startsWith('-')) break;
    at += GIT_VALUED.test(word.value) ? 2 : 1;
  }
  return at;
}

/** The commands that a command runs. Words that are not understood add one of kind `unknown`. */
export function commandRuns(words: readonly ShellWord[]): readonly Run[] {
  const name = commandName(words)?.toLowerCase();
  // A name with wildcards or expansions may be any program, including a shell.
  if (name === undefined) return words.length === 0 ? [] : [unknown(words)];
  if (name === 'command' && words[1]?.kind === 'literal' && /^-[vV]$/.test(words[1].value)) return [];
  // No program has such a name: a shell or a keyword before it may read it differently.
  if (/^-.|=/.test(name)) return guesses(words);
  const wrapper = wrappers.find((one) => one.name === name);
  if (wrapper !== undefined) return runsOfWrapper(wrapper, words);
  const feeder = feeders.find((one) => one.name === name);
  if (feeder !== undefined) return runsOfFeeder(feeder, words);
  if (isShell(name)) return shellRuns(name, words);
  // These run commands on another machine.
  if (/^(ssh|mosh|rsh)$/.test(name)) return [unknown(words)];
  if (isRunnerOfUnknown(name)) return guesses(words.slice(1));
  switch (name) {
    case 'eval':
      return evalRuns(words.slice(1));
    case 'trap':
      return trapRuns(words.slice(1));
    case 'alias':
      // From here on the alias changes what a name means.
      return words.length === 1 ? [] : [...words.slice(1).map(aliasScript), unknown(words)];
    case 'find':
    case 'gfind':
    case 'fd':
    case 'fdfind':
      return findRuns(words);
    case 'git':
      return gitRuns(words);
    default:
      return evaluators.has(name) && !isHarmlessBuiltin(name, words.slice(1)) ? [unknown(words)] : [];
  }
}

function runsOfWrapper(wrapper: Wrapper, all: readonly ShellWord[]): Run[] {
  const [, subcommand] = all;
  if (wrapper.after !== undefined && subcommand?.kind === 'literal' && !subcommand.value.startsWith('-')) {
    if (!wrapper.after.test(subcommand.value)) return [];
    return runsOfWrapper({ ...wrapper, after: undefined }, all.slice(1));
  }
  if (wrapper.after !== undefined)
    return subcommand?.kind === 'literal' ? runsAfterSubcommand(wrapper.after, all) : guesses(all.slice(1));
  const at = commandAt(wrapper, all);
  if (at === undefined) return guesses(all.slice(1));
  const changed = all
    .slice(1, at)
    .filter(({ value }) => wrapper.takesAssignments === true && changesByWord(value))
    .map((word) => unknown([word]));
  const command = all.slice(at + wrapper.words);
  if (command.length === 0) return changed;
  // `nice "rm x"`: a single word with spaces may be a text for a shell.
  const [only] = command;
  const isText = command.length === 1 && only?.kind === 'literal' && /\s/.test(only.value);
  if (isText) return [...changed, scriptOf(command)];
  if (only?.kind === 'literal' && only.value.startsWith('-') && only.value !== '-')
    return guesses(command.slice(1));
  return [...changed, { kind: 'words', words: command }];
}

/** `npm --silent exec x`: an option may take the next word, so any later word may be the subcommand. */
function runsAfterSubcommand(after: RegExp, words: readonly ShellWord[]): Run[] {
  const at = words.findIndex(({ kind, value }) => kind !== 'literal' || after.test(value));
  return at === -1 ? [] : guesses(words.slice(at));
}

/** Index of the first word after a wrapper's options; undefined after an unknown option. */
function commandAt(wrapper: Wrapper, words: readonly ShellWord[]): number | undefined {
  let at = 1;
  for (; at < words.length; at++) {
    const word = words[at];
    if (word === undefined || word.kind !== 'literal') {
      // An expansion may produce an option.
      const isAssignment = wrapper.takesAssignments === true && /^"?[A-Za-z_]\w*=/.test(word?.text ?? '');
      if (isAssignment) continue;
      break;
    }
    const { value } = word;
    if (value === '--') return at + 1;
    if (wrapper.takesAssignments === true && /^[^-][^=]*=/.test(value)) continue;
    if (wrapper.flags.includes(value)) continue;
    if (!value.startsWith('-') || value === '-') break;
    const letters = [...value.slice(1)];
    if (!value.startsWith('--') && letters.every((letter) => wrapper.flags.includes(`-${letter}`))) continue;
    if (wrapper.name === 'nice' && /^-\d+$/.test(value)) continue;
    if (wrapper.valued.includes(value)) {
      at++;
      continue;
    }
    if (wrapper.valued.some((option) => value.startsWith(option.startsWith('--') ? `${option}=` : option)))
      continue;
    return undefined;
  }
  return at;
}

/** `env BASH_ENV=x bash`: an assignment that changes what other commands run. */
function changesByWord(word: string): boolean {
  const sign = word.indexOf('=');
  return (
    sign > 0 &&
    !word.startsWith('-') &&
    changesCommands(word.slice(0, sign).replace(/^"/, ''), word.slice(sign + 1))
  );
}

/** The command with the words that a feeder reads from its input: at the end, or instead of the replacement string. */
function runsOfFeeder(feeder: Wrapper, words: readonly ShellWord[]): Run[] {
  const at = commandAt(feeder, words);
  if (at === undefined) return guesses(words.slice(1));
  const command = words.slice(at);
  if (command.length === 0) return [];
  const options = words.slice(1, at).map(({ value }) => value);
  const marks = options.flatMap((value, index) => {
    if (value === '-I') return [options[index + 1] ?? '{}'];
    if (/^-[0rtpx]*i|^--replace/.test(value)) return [value.replace(/^(-[0rtpx]*i|--replace=?)/, '') || '{}'];
    return value.startsWith('-I') ? [value.slice(2)] : [];
  });
  if (marks.length === 0) return [{ kind: 'words', words: [...command, unknownWord('…')] }];
  const isReplaced = ({ value, text }: ShellWord): boolean =>
    marks.some((mark) => value.includes(mark) || text.includes(mark));
  return [{ kind: 'words', words: command.map((one) => (isReplaced(one) ? unknownWord(one.text) : one)) }];
}

/** For unknown syntax: each word may be the command or a text for a shell. */
function guesses(words: readonly ShellWord[]): Run[] {
  const tails = words.slice(0, MAX_GUESSES).flatMap((word, index): Run[] => {
    return word.kind === 'literal' ? [{ kind: 'words', words: words.slice(index) }] : [];
  });
  const texts = words
    .filter((word) => word.kind === 'literal' && /\s/.test(word.value))
    .slice(0, MAX_GUESSES)
    .map((word) => scriptOf([word]));
  return [...tails, ...texts, unknown(words)];
}

function shellRuns(name: string, words: readonly ShellWord[]): Run[] {
  const text = shellText(name, words.slice(1));
  if (text === 'none') return [];
  return text === undefined ? guesses(words.slice(1)) : [scriptOf([text])];
}

function evalRuns(args: readonly ShellWord[]): Run[] {
  const [first] = args;
  const rest = first?.value === '--' ? args.slice(1) : args;
  if (rest[0]?.kind === 'literal' && rest[0].value.startsWith('-')) return guesses(rest);
  return rest.length === 0 ? [] : [scriptOf(rest)];
}

function trapRuns(args: readonly ShellWord[]): Run[] {
  const [first] = args;
  const rest = first?.value === '--' ? args.slice(1) : args;
  const [action] = rest;
  if (action === undefined || action.value === '-') return [];
  if (rest === args && action.kind === 'literal' && action.value.startsWith('-'))
    return /^-[lp]$/.test(action.value) ? [] : guesses(args);
  return [scriptOf([action])];
}

function findRuns(words: readonly ShellWord[]): Run[] {
  const starts = words.flatMap(({ value, kind }, index) =>
    kind === 'literal' && index > 0 && FIND_RUNS.test(value) ? [index] : [],
  );
  const ends = words.filter(({ value }) => value === ';' || value === '+').length;
  const isOpen = words.slice(1).some(({ kind, value, text }) => {
    if (kind === 'literal') return /^(--exec.*=|-[xX].)/.test(value);
    // An expansion may produce `-exec`.
    return kind === 'unknown' && (ends > starts.length || !text.startsWith('"'));
  });
  if (starts.length > MAX_GUESSES || isOpen) return guesses(words.slice(1));
  return starts.flatMap((index): Run[] => {
    const rest = words.slice(index + 1);
    const end = rest.findIndex((one) => one.value === ';' || one.value === '+');
    const command = rest.slice(0, end === -1 ? undefined : end);
    if (command.length === 0) return [];
    return [
      {
        kind: 'words',
        words: command.map((one) => (/\{.*\}/.test(one.value) ? unknownWord(one.text) : one)),
      },
    ];
  });
}

/** In `git -c alias.x='!rm y'` and `git -c core.pager='rm y'` the value is a command; so are arguments of some subcommands. */
function gitRuns(words: readonly ShellWord[]): Run[] {
  const at = gitCommandAt(words);
  const settings = words.slice(1, at).flatMap((word, index, options): Run[] => {
    if (/^--(config-env|exec-path)/.test(word.value)) return [unknown([word])];
    const next = options[index + 1];
    if (word.value !== '-c') return [];
    if (next?.kind !== 'literal') return [unknown([next ?? word])];
    const sign = next.value.indexOf('=');
    if (HARMLESS_GIT_SETTING.test(sign === -1 ? next.value : next.value.slice(0, sign))) return [];
    const value = next.value.slice(sign + 1).replace(/^!/, '');
    return value === '' ? [] : [scriptOf([literalWord(value)]), unknown([next])];
  });
  const subcommand = words[at];
  if (subcommand === undefined) return settings;
  if (subcommand.kind !== 'literal') return [...settings, unknown(words)];
  const args = words.slice(at + 1);
  const runs =
    args.some(({ value }) => /^--(upload-pack|receive-pack|exec\b)|^ext::/.test(value)) ||
    Object.entries(GIT_RUNS).some(
      ([name, argument]) => name === subcommand.value && args.some(({ value }) => argument.test(value)),
    );
  return runs ? [...settings, ...guesses(args)] : settings;
}

/** The words joined to one line for a shell. */
function scriptOf(words: readonly ShellWord[]): Run {
  if (words.some((word) => word.kind !== 'literal')) return unknown(words);
  return { kind: 'text', text: words.map((word) => word.value).join(' ') };
}

/** The command that an alias defines. */
function aliasScript(word: ShellWord): Run {
  const value = word.value.slice(word.value.indexOf('=') + 1);
  return word.kind === 'literal' ? { kind: 'text', text: value } : unknown([word]);
}

function unknown(words: readonly ShellWord[]): Run {
  return { kind: 'unknown', text: words.map((word) => word.text).join(' ') };
}
