// Pure: which commands a command runs besides itself, as far as its words say. Only deny and ask rules use it.
import { basename } from 'node:path';
import { feeders, runnersOfUnknown, shells, wrappers, type Wrapper } from './command-wrappers.js';
import { evaluators } from './shell-commands.js';
import type { ShellWord } from './shell-part.js';
import { literalWord, unknownWord } from './shell-word.js';

/** A command that another one runs. */
export type Run =
  | { readonly kind: 'words'; readonly words: readonly ShellWord[] }
  /** Text that a shell reads. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unknown'; readonly text: string };

/** Behind an option of a wrapper that is not known, this many words are each taken for the command. */
const MAX_GUESSES = 8;
const GIT_VALUED =
  /^(-C|-c|--git-dir|--work-tree|--namespace|--config-env|--exec-path|--super-prefix|--attr-source)$/;
const FIND_RUNS = /^(-(exec|execdir|ok|okdir)|-x|-X|--exec|--exec-batch)$/;
/** Within quotes it is text, until a command of the shell evaluates it. */
const SUBSTITUTION = /`|\$[({]/;

/** The command's name as the kernel or the shell would find it. */
export function commandName(words: readonly ShellWord[]): string | undefined {
  const [name] = words;
  if (name?.kind !== 'literal') return undefined;
  return basename(name.value);
}

/** Index of git's own command among the words, with the options before it. */
export function gitCommandAt(words: readonly ShellWord[]): number {
  let at = 1;
  while (at < words.length) {
    const word = words[at];
    if (word?.kind !== 'literal' || !word.value.startsWith('-')) break;
    at += GIT_VALUED.test(word.value) ? 2 : 1;
  }
  return at;
}

/** The commands that a command runs. */
export function commandRuns(words: readonly ShellWord[]): readonly Run[] {
  const name = commandName(words);
  if (name === undefined) return [];
  const wrapper = wrappers.find((one) => one.name === name);
  if (wrapper !== undefined) return wrapped(wrapper, words, []);
  const feeder = feeders.find((one) => one.name === name);
  if (feeder !== undefined) return wrapped(feeder, words, [unknownWord('…')]);
  if (shells.has(name)) return shellRuns(words);
  if (runnersOfUnknown.has(name)) return [unknown(words)];
  switch (name) {
    case 'eval':
      return [scriptOf(words.slice(1))];
    case 'trap':
      return words.slice(1, 2).map((word) => scriptOf([word]));
    case 'alias':
      return words.slice(1).map(aliasScript);
    case 'find':
    case 'gfind':
    case 'fd':
    case 'fdfind':
      return findRuns(words);
    case 'git':
      return gitRuns(words);
    default:
      return evaluators.has(name) &&
        words.slice(1).some(({ kind, value }) => kind === 'literal' && SUBSTITUTION.test(value))
        ? [unknown(words)]
        : [];
  }
}

function wrapped(wrapper: Wrapper, words: readonly ShellWord[], added: readonly ShellWord[]): Run[] {
  let at = 1;
  for (; at < words.length; at++) {
    const word = words[at];
    if (word === undefined || word.kind !== 'literal') break;
    const { value } = word;
    if (value === '--') {
      at++;
      break;
    }
    if (wrapper.takesAssignments === true && /^[A-Za-z_]\w*=/.test(value)) continue;
    if (!value.startsWith('-') || value === '-') {
      if (value === '-' && wrapper.flags.includes('-')) continue;
      break;
    }
    if (wrapper.flags.includes(value)) continue;
    if (wrapper.valued.includes(value)) {
      at++;
      continue;
    }
    if (wrapper.valued.some((option) => value.startsWith(option.startsWith('--') ? `${option}=` : option)))
      continue;
    return guesses(words.slice(at + 1), added);
  }
  const command = words.slice(at + wrapper.words);
  if (command.length === 0) return [];
  // `watch "rm x"`, `flock f -c "rm x"`: a word of several is a text for a shell.
  const [only] = command;
  const isText = command.length === 1 && only?.kind === 'literal' && /\s/.test(only.value);
  if (isText) return [scriptOf(command)];
  if (only?.kind === 'literal' && only.value.startsWith('-')) return guesses(command.slice(1), added);
  return [{ kind: 'words', words: [...command, ...added] }];
}

function guesses(words: readonly ShellWord[], added: readonly ShellWord[]): Run[] {
  const tails = words
    .slice(0, MAX_GUESSES)
    .map((_, index): Run => ({ kind: 'words', words: [...words.slice(index), ...added] }));
  const texts = words
    .filter((word) => word.kind === 'literal' && /\s/.test(word.value))
    .map((word) => scriptOf([word]));
  return words.length > MAX_GUESSES ? [...tails, ...texts, unknown(words)] : [...tails, ...texts];
}

function shellRuns(words: readonly ShellWord[]): Run[] {
  for (const [index, word] of words.entries()) {
    if (index === 0) continue;
    if (word.kind !== 'literal') return [unknown(words)];
    if (/^-[a-zA-Z]*c[a-zA-Z]*$/.test(word.value) || word.value === '--command') {
      const text = words.slice(index + 1).find((one) => !(one.kind === 'literal' && /^[-+]/.test(one.value)));
      return [text === undefined ? unknown(words) : scriptOf([text])];
    }
    if (word.value === '-s') return [unknown(words)];
    if (word.value === '-o' || word.value === '-O') continue;
    // A file of commands, which is not read.
    if (!/^[-+]/.test(word.value)) return [];
  }
  // Commands come on its input.
  return [unknown(words)];
}

function findRuns(words: readonly ShellWord[]): Run[] {
  const starts = words.flatMap(({ value, kind }, index) =>
    kind === 'literal' && index > 0 && FIND_RUNS.test(value) ? [index] : [],
  );
  if (starts.length > MAX_GUESSES) return [unknown(words)];
  return starts.flatMap((index): Run[] => {
    const rest = words.slice(index + 1);
    const end = rest.findIndex((one) => one.value === ';' || one.value === '+');
    const command = rest.slice(0, end === -1 ? undefined : end);
    if (command.length === 0) return [];
    return [
      {
        kind: 'words',
        words: command.map((one) => (one.value.includes('{}') ? unknownWord(one.text) : one)),
      },
    ];
  });
}

/** `git -c alias.x='!rm y'`, `git -c core.pager='rm y'`: the value is a command. */
function gitRuns(words: readonly ShellWord[]): Run[] {
  return words.slice(1, gitCommandAt(words)).flatMap((word, index, options): Run[] => {
    const next = options[index + 1];
    if (word.value !== '-c' || next === undefined) return [];
    if (next.kind !== 'literal') return [unknown([next])];
    const value = next.value.slice(next.value.indexOf('=') + 1).replace(/^!/, '');
    return value === '' ? [] : [scriptOf([literalWord(value)])];
  });
}

/** Words that a shell reads as one line. */
function scriptOf(words: readonly ShellWord[]): Run {
  if (words.some((word) => word.kind !== 'literal')) return unknown(words);
  return { kind: 'text', text: words.map((word) => word.value).join(' ') };
}

/** What an alias stands for. */
function aliasScript(word: ShellWord): Run {
  const value = word.value.slice(word.value.indexOf('=') + 1);
  return word.kind === 'literal' ? { kind: 'text', text: value } : unknown([word]);
}

function unknown(words: readonly ShellWord[]): Run {
  return { kind: 'unknown', text: words.map((word) => word.text).join(' ') };
}
