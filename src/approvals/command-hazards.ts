// Pure: what a command may do besides what its words say, and which commands it runs.
import { basename } from 'node:path';
import { aliasScript, runs, scriptOf, textOf, type CommandHazards, type Run } from './command-run.js';
import { feeders, runnersOfUnknown, shells, wrappers, type Wrapper } from './command-wrappers.js';
import { gitHazards } from './git-hazards.js';
import { sedHazards } from './sed-hazards.js';
import type { Hazard, ShellWord } from './shell-part.js';
import { unknownWord } from './shell-word.js';

const NONE: CommandHazards = { hazards: [], runs: [] };
/** Behind an option of a wrapper that is not known, this many words are each taken for the command. */
const MAX_GUESSES = 8;

/** The command's name as the kernel or the shell would find it. */
export function commandName(words: readonly ShellWord[]): string | undefined {
  const [name] = words;
  if (name?.kind !== 'literal') return undefined;
  return basename(name.value);
}

/** What there is to know about a command from its words. */
export function commandHazards(words: readonly ShellWord[]): CommandHazards {
  const name = commandName(words);
  if (name === undefined) return NONE;
  const wrapper = wrappers.find((one) => one.name === name);
  if (wrapper !== undefined) return wrapped(wrapper, words, []);
  const feeder = feeders.find((one) => one.name === name);
  if (feeder !== undefined) return wrapped(feeder, words, [unknownWord('…')]);
  if (shells.has(name)) return shellHazards(name, words);
  if (runnersOfUnknown.has(name))
    return runs(`${name} runs other commands`, 0, [{ kind: 'unknown', text: textOf(words) }]);
  switch (name) {
    case 'eval':
      return runs('eval runs its arguments', 0, [scriptOf(words.slice(1))]);
    case 'source':
    case '.':
      return runs('it runs a file in this shell', 0, []);
    case 'trap':
      return runs(
        'trap runs a command later',
        0,
        words.slice(1, 2).map((word) => scriptOf([word])),
      );
    case 'alias':
      return runs('it gives a command another name', 0, words.slice(1).map(aliasScript));
    case 'find':
    case 'gfind':
    case 'fd':
    case 'fdfind':
      return findHazards(words);
    case 'git':
      return gitHazards(words);
    case 'sed':
    case 'gsed':
      return sedHazards(words);
    case 'rg':
      return optionHazards(words, /^--(pre|hostname-bin)(=|$)/, 'runs a program');
    case 'sort':
    case 'gsort':
      return optionHazards(
        words,
        /^(-[a-zA-Z]*o|--output|--compress-program)/,
        'writes a file or runs a program',
      );
    case 'tar':
      return optionHazards(
        words,
        /^(--(to-command|checkpoint-action|use-compress-program|rsh-command|info-script)|-I|-F)/,
        'runs a program',
      );
    default:
      return NONE;
  }
}

function wrapped(wrapper: Wrapper, words: readonly ShellWord[], added: readonly ShellWord[]): CommandHazards {
  const why = `${wrapper.name} runs another command`;
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
    return runs(why, 0, guesses(words.slice(at + 1), added));
  }
  const command = words.slice(at + wrapper.words);
  if (command.length === 0) return runs(why, 0, []);
  // `watch "rm x"`, `flock f -c "rm x"`: a word of several is a text for a shell.
  const [only] = command;
  const isText = command.length === 1 && only?.kind === 'literal' && /\s/.test(only.value);
  if (isText) return runs(why, 0, [scriptOf(command)]);
  if (only?.kind === 'literal' && only.value.startsWith('-'))
    return runs(why, 0, guesses(command.slice(1), added));
  return runs(why, 0, [{ kind: 'words', words: [...command, ...added] }]);
}

function guesses(words: readonly ShellWord[], added: readonly ShellWord[]): Run[] {
  const tails = words
    .slice(0, MAX_GUESSES)
    .map((_, index): Run => ({ kind: 'words', words: [...words.slice(index), ...added] }));
  const texts = words
    .filter((word) => word.kind === 'literal' && /\s/.test(word.value))
    .map((word) => scriptOf([word]));
  return words.length > MAX_GUESSES
    ? [...tails, ...texts, { kind: 'unknown', text: textOf(words) }]
    : [...tails, ...texts];
}

function shellHazards(name: string, words: readonly ShellWord[]): CommandHazards {
  const why = `${name} runs other commands`;
  const unknown: Run = { kind: 'unknown', text: textOf(words) };
  for (const [index, word] of words.entries()) {
    if (index === 0) continue;
    if (word.kind !== 'literal') return runs(why, 0, [unknown]);
    if (/^-[a-zA-Z]*c[a-zA-Z]*$/.test(word.value) || word.value === '--command') {
      const text = words.slice(index + 1).find((one) => !(one.kind === 'literal' && /^[-+]/.test(one.value)));
      return runs(why, 0, [text === undefined ? unknown : scriptOf([text])]);
    }
    if (word.value === '-s') return runs(why, 0, [unknown]);
    if (word.value === '-o' || word.value === '-O') continue;
    // A file of commands: what it holds is not looked at.
    if (!/^[-+]/.test(word.value)) return runs(why, 0, []);
  }
  // Commands come on its input.
  return runs(why, 0, [unknown]);
}

const FIND_RUNS = /^-(exec|execdir|ok|okdir)$/;
const FD_RUNS = /^(-x|-X|--exec|--exec-batch)$/;
const FIND_WRITES = /^-(delete|fprint|fprint0|fprintf|fls)$/;

function findHazards(words: readonly ShellWord[]): CommandHazards {
  const hazards: Hazard[] = [];
  const found: Run[] = [];
  for (const [word, { value, kind }] of words.entries()) {
    if (kind !== 'literal' || word === 0) continue;
    if (FIND_WRITES.test(value)) hazards.push({ why: `${value} removes or writes files`, word });
    if (!FIND_RUNS.test(value) && !FD_RUNS.test(value)) continue;
    hazards.push({ why: `${value} runs another command`, word });
    const rest = words.slice(word + 1);
    const end = rest.findIndex((one) => one.value === ';' || one.value === '+');
    const command = rest.slice(0, end === -1 ? undefined : end);
    if (command.length > 0) {
      const replaced = command.map((one) => (one.value.includes('{}') ? unknownWord(one.text) : one));
      // What `sh -c` is given stays a text even when {} stands in it.
      found.push({ kind: 'words', words: replaced });
    }
  }
  return { hazards, runs: found };
}

function optionHazards(words: readonly ShellWord[], option: RegExp, does: string): CommandHazards {
  const hazards = words.flatMap(({ value, kind }, word): Hazard[] =>
    word > 0 && kind === 'literal' && option.test(value) ? [{ why: `${value} ${does}`, word }] : [],
  );
  return { hazards, runs: [] };
}
