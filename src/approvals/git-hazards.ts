// Pure: what git runs or changes by its options.
import { scriptOf, type CommandHazards, type Run } from './command-run.js';
import type { Hazard, ShellWord } from './shell-part.js';
import { literalWord } from './shell-word.js';

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

/** What git may do besides what its command says. */
export function gitHazards(words: readonly ShellWord[]): CommandHazards {
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
