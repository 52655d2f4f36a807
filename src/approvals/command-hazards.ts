// Pure: what a command may do besides what its words say, and which commands it runs.
import { basename } from 'node:path';
import { feeders, runnersOfUnknown, shells, wrappers, type Wrapper } from './command-wrappers.js';
import type { Hazard, ShellWord } from './shell-part.js';
import { literalWord, unknownWord } from './shell-word.js';

/** A command that another one runs. */
export type Run =
  | { readonly kind: 'words'; readonly words: readonly ShellWord[] }
  /** Text that a shell reads. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unknown'; readonly text: string };

export interface CommandHazards {
  readonly hazards: readonly Hazard[];
  readonly runs: readonly Run[];
}

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

/** Options before git's own command that change only how it prints. */
const GIT_QUIET =
  /^(--no-pager|-P|--no-optional-locks|--literal-pathspecs|--no-replace-objects|--version|--help)$/;
const GIT_VALUED =
  /^(-C|-c|--git-dir|--work-tree|--namespace|--config-env|--exec-path|--super-prefix|--attr-source)$/;
const GIT_RUNS =
  /^(--upload-pack|--receive-pack|--exec|--ext-diff|--textconv|--output|--open-files-in-pager|--extcmd|--tool|--trailer|--sendmail-cmd|--to-cmd|--cc-cmd)(=|$)|^(-O|-x).*$/;
/** Commands of git whose purpose is to run others, or to choose what runs. */
const GIT_RUNNERS: ReadonlySet<string> = new Set([
  'config',
  'filter-branch',
  'submodule',
  'bisect',
  'difftool',
  'mergetool',
  'hook',
  'credential',
  'daemon',
  'instaweb',
  'help',
  'send-email',
  'maintenance',
  'fsmonitor--daemon',
  'upload-pack',
  'receive-pack',
  'remote-ext',
  'for-each-repo',
  'web--browse',
  'citool',
  'gui',
]);

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

function gitHazards(words: readonly ShellWord[]): CommandHazards {
  const hazards: Hazard[] = [];
  const found: Run[] = [];
  const command = gitCommandAt(words);
  for (const [word, { value, kind }] of words.entries()) {
    if (word === 0 || kind !== 'literal') continue;
    if (word < command && value.startsWith('-') && !GIT_QUIET.test(value)) {
      hazards.push({ why: `git ${value} changes where git works or what it runs`, word });
      found.push(...gitConfigRuns(value, words[word + 1]));
    }
    if (word > command && GIT_RUNS.test(value))
      hazards.push({ why: `${value} may run a program or write a file`, word });
  }
  const name = words[command];
  if (name?.kind === 'literal' && GIT_RUNNERS.has(name.value)) {
    hazards.push({ why: `git ${name.value} runs or chooses other programs`, word: command });
  }
  return { hazards, runs: found };
}

/** `-c alias.x='!rm y'`, `-c core.pager='rm y'`: the value is a command. */
function gitConfigRuns(option: string, next: ShellWord | undefined): Run[] {
  if (option !== '-c' || next === undefined) return [];
  if (next.kind !== 'literal') return [{ kind: 'unknown', text: next.text }];
  const value = next.value.slice(next.value.indexOf('=') + 1).replace(/^!/, '');
  return value === '' ? [] : [scriptOf([literalWord(value)])];
}

/** Lines printed, deleted or replaced: nothing written, nothing run. */
const SED_PLAIN =
  /^(?:(?:\d+|\$|\/[^/\\;{}]*\/)(?:,(?:\+?\d+|\$|\/[^/\\;{}]*\/))?!?)?(?:[pdq=]|s([/|#,:])(?:(?!\1)[^\\\n]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpI0-9]*)$/;

/** True for a script of `sed` that only prints. */
export function isPlainSed(script: string): boolean {
  return script.split(';').every((one) => SED_PLAIN.test(one.trim()));
}

function sedHazards(words: readonly ShellWord[]): CommandHazards {
  const hazards: Hazard[] = [];
  let script: number | undefined;
  for (const [word, { value, kind }] of words.entries()) {
    if (word === 0) continue;
    if (kind !== 'literal') continue;
    if (/^-[nErsuz]*i|^--in-place/.test(value)) hazards.push({ why: `${value} writes the files`, word });
    else if (/^-[nErsuz]*f|^--file/.test(value)) hazards.push({ why: 'its script comes from a file', word });
    else if (/^(-[nErsuz]*e.*|--expression.*)$/.test(value)) hazards.push(...sedScript(words, word, value));
    else if (!value.startsWith('-') && script === undefined) {
      script = word;
      if (!hasScriptOption(words)) hazards.push(...plainOrHazard(value, word));
    }
  }
  return { hazards, runs: [] };
}

function hasScriptOption(words: readonly ShellWord[]): boolean {
  return words.some(({ value }, index) => index > 0 && /^(-[nErsuz]*[ef]|--expression|--file)/.test(value));
}

function sedScript(words: readonly ShellWord[], word: number, value: string): Hazard[] {
  const own = /^(?:-[nErsuz]*e|--expression=)([^]+)$/.exec(value)?.[1];
  return plainOrHazard(own ?? words[word + 1]?.value ?? '', own === undefined ? word + 1 : word);
}

function plainOrHazard(script: string, word: number): Hazard[] {
  return isPlainSed(script) ? [] : [{ why: 'its script may write files or run commands', word }];
}

function optionHazards(words: readonly ShellWord[], option: RegExp, does: string): CommandHazards {
  const hazards = words.flatMap(({ value, kind }, word): Hazard[] =>
    word > 0 && kind === 'literal' && option.test(value) ? [{ why: `${value} ${does}`, word }] : [],
  );
  return { hazards, runs: [] };
}

function runs(why: string, word: number, found: readonly Run[]): CommandHazards {
  return { hazards: [{ why, word }], runs: found };
}

function scriptOf(words: readonly ShellWord[]): Run {
  const text = textOf(words);
  if (words.some((word) => word.kind === 'unknown')) return { kind: 'unknown', text };
  return { kind: 'text', text: words.map((word) => word.value).join(' ') };
}

function aliasScript(word: ShellWord): Run {
  const value = word.value.slice(word.value.indexOf('=') + 1);
  return word.kind === 'literal' ? { kind: 'text', text: value } : { kind: 'unknown', text: word.text };
}

function textOf(words: readonly ShellWord[]): string {
  return words.map((word) => word.text).join(' ');
}
