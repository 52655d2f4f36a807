// Pure: which uses of tools Claude Code is to ask about, so that our rules see them.
import { readPermissionRule } from './permission-rule.js';
import { liveNames } from '../projects/live-names.js';
import type { NameGlobs } from '../projects/name-list.js';
import { secretNames } from '../projects/secret-names.js';
import type { ApprovalMode } from './decide.js';
import type { RuleRow } from './user-rules.js';

/** The part `permissions` of Claude Code's settings, for one run. */
export interface CliPermissions {
  readonly ask: readonly string[];
  /** What nobody may do in this run, whatever other settings allow. */
  readonly deny: readonly string[];
}

/** A name without one of these is an ordinary word, too. */
const HAS_MARK = /[._]/;

/**
 * In mode cautious these are asked about; by itself Claude Code reads what lies in its folder without a question. Which
 * commands it asks about is its own judgement.
 */
const CAUTIOUS_ASKS: readonly string[] = [
  'WebFetch',
  'WebSearch',
  // It prints what is in files that it does not name.
  'Grep',
  ...nameRules('Read', secretNames),
  ...commandRules(secretNames),
  ...historyRules(),
  ...nameRules('Edit', liveNames),
];

const MODE_ASKS: Readonly<Record<ApprovalMode, readonly string[]>> = {
  auto: [],
  cautious: CAUTIOUS_ASKS,
  // The bridge tells a command that stays in the sandbox from one that leaves it; a rule that asks goes before any that allows.
  sandboxed: ['Bash', ...CAUTIOUS_ASKS],
};

/** Rules in Claude Code's own syntax for every file that the list names; that of a folder holds for all below it. */
export function nameRules(tool: 'Read' | 'Edit', { folders, files }: NameGlobs): string[] {
  return [...folders, ...files].map((glob) => `${tool}(**/${glob})`);
}

/**
 * Rules for the commands that name such a file in plain letters. What a glob, a redirection or a search through a folder
 * reaches is not seen by them.
 */
function commandRules({ folders, files }: NameGlobs): string[] {
  const all = [...folders, ...files].map((glob) => glob.replace(/^\*+|\*+$/g, ''));
  // What a shorter name finds anyhow needs no rule of its own.
  const names = all.filter((name) => !all.some((other) => HAS_MARK.test(other) && isWithin(name, other)));
  return [...new Set(names)].flatMap((name) =>
    // A name without a dot is an ordinary word, too: it counts at the beginning of a word or a path's part.
    HAS_MARK.test(name) ? [`Bash(*${name}*)`] : [`Bash(* ${name}*)`, `Bash(*/${name}*)`],
  );
}

function isWithin(name: string, other: string): boolean {
  return name !== other && name.includes(other);
}

/**
 * Rules for the commands of git that print contents of the whole history, also those of files that the command does not name and
 * of files that are no longer there. Git takes the beginning of a long option for the option.
 */
function historyRules(): string[] {
  const commands = ['log', 'reflog', 'stash', 'whatchanged'].flatMap((command) =>
    ['-p', '-u', '-U', '-c', '-m', '-L', '-W', '--pa', '--un', '--cc', '--dd', '--rem', '--diff-m']
      .concat(['--word', '--color-w', '--fun', '--bin'])
      .map((option) => `${command}* ${option}`),
  );
  return [...commands, 'show', 'grep', 'cat-file'].flatMap((words) => [
    `Bash(git ${words}*)`,
    `Bash(git -* ${words}*)`,
  ]);
}

/**
 * Claude Code allows much by itself, by its own rules and those of its settings files. What a rule of ours denies or asks
 * about it is told to ask about: then the answer is ours, with our reason.
 */
export function cliPermissions(
  rows: readonly RuleRow[],
  mode: ApprovalMode,
  projectPath: string,
  ownPlaces: readonly string[] = [],
): CliPermissions {
  const ask = rows.flatMap(({ rule: text, verdict }) => {
    if (verdict === 'allow') return [];
    const read = readPermissionRule(text);
    if ('fault' in read) return [];
    const { rule } = read;
    // A command may stand behind another one, where only our reading of the line finds it.
    if (rule.kind === 'command') return ['Bash'];
    if (rule.kind !== 'path') return [text];
    const tool = rule.access === 'read' ? 'Read' : 'Edit';
    return ['Bash', `${tool}(${absolutePattern(rule.pattern, projectPath)})`];
  });
  return {
    ask: [...new Set([...ask, ...MODE_ASKS[mode]])],
    deny: ownPlaces.flatMap((place) => [`Edit(/${place})`, `Edit(/${place}/**)`]),
  };
}

/** A path that begins in the project, said from the root: Claude Code would take it from elsewhere. */
function absolutePattern(pattern: string, projectPath: string): string {
  if (pattern.startsWith('//') || pattern.startsWith('~')) return pattern;
  const isAnchored = pattern.slice(0, -1).includes('/');
  const rest = pattern.replace(/^\.?\//, '');
  return `/${projectPath}/${isAnchored ? '' : '**/'}${rest}`;
}
