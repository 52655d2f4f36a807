// Pure: which tool uses Claude Code must ask about, so that the bridge's rules can answer.
import { parsePermissionRule } from './permission-rule.js';
import { liveNames } from '../projects/live-names.js';
import type { NameGlobs } from '../projects/name-list.js';
import { secretNames } from '../projects/secret-names.js';
import type { ApprovalMode } from './decide.js';
import type { RuleRow } from './user-rules.js';

/** `permissions` in Claude Code's settings, for one run. */
export interface CliPermissions {
  readonly ask: readonly string[];
  /** Forbidden in this run, whatever other settings allow. */
  readonly deny: readonly string[];
}

/** A name without one of these may also be an ordinary word. */
const HAS_MARK = /[._]/;

/**
 * Asked about in mode cautious, since Claude Code reads files in its folder without asking. Which other commands it asks
 * about is its own decision.
 */
const CAUTIOUS_ASKS: readonly string[] = [
  'WebFetch',
  'WebSearch',
  // It prints contents of files that it does not name.
  'Grep',
  ...nameRules('Read', secretNames),
  ...commandRules(secretNames),
  ...historyRules(),
  ...nameRules('Edit', liveNames),
];

const MODE_ASKS: Readonly<Record<ApprovalMode, readonly string[]>> = {
  auto: [],
  cautious: CAUTIOUS_ASKS,
  // The bridge must see each command, to find those that leave the sandbox. Claude Code tries ask rules before allow rules.
  sandboxed: ['Bash', ...CAUTIOUS_ASKS],
};

/** Rules in Claude Code's own syntax for every name in the list. The rule for a folder covers everything below it. */
function nameRules(tool: 'Read' | 'Edit', { folders, files }: NameGlobs): string[] {
  return [...folders, ...files].map((glob) => `${tool}(**/${glob})`);
}

/**
 * Rules for commands that contain such a name literally. They do not match files reached through a glob, a redirection or a
 * search through a folder.
 */
function commandRules({ folders, files }: NameGlobs): string[] {
  const all = [...folders, ...files].map((glob) => glob.replace(/^\*+|\*+$/g, ''));
  // A name that contains another one is covered by the rule for that one.
  const names = all.filter((name) => !all.some((other) => HAS_MARK.test(other) && isWithin(name, other)));
  return [...new Set(names)].flatMap((name) =>
    // A name that may be an ordinary word counts only at the beginning of a word or of a path segment.
    HAS_MARK.test(name) ? [`Bash(*${name}*)`] : [`Bash(* ${name}*)`, `Bash(*/${name}*)`],
  );
}

function isWithin(name: string, other: string): boolean {
  return name !== other && name.includes(other);
}

/**
 * Rules for git commands that print file contents from history, including files that the command does not name and deleted
 * files. Options are shortened because git accepts an unambiguous prefix of a long option.
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
 * Claude Code allows many uses on its own, by built-in rules and those in its settings files. These permissions make it ask
 * about everything that a rule of the bridge denies or asks about, so that the bridge answers, with its reason.
 */
export function cliPermissions(
  rows: readonly RuleRow[],
  mode: ApprovalMode,
  projectPath: string,
  ownPlaces: readonly string[] = [],
): CliPermissions {
  const ask = rows.flatMap(({ rule: text, verdict }) => {
    if (verdict === 'allow') return [];
    const read = parsePermissionRule(text);
    if ('expected' in read) return [];
    const { rule } = read;
    // A command may be nested in another one, where only the bridge's parser finds it.
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

/** Makes a pattern that is relative to the project absolute: Claude Code would resolve it from another folder. */
function absolutePattern(pattern: string, projectPath: string): string {
  if (pattern.startsWith('//') || pattern.startsWith('~')) return pattern;
  const isAnchored = pattern.slice(0, -1).includes('/');
  const rest = pattern.replace(/^\.?\//, '');
  return `/${projectPath}/${isAnchored ? '' : '**/'}${rest}`;
}
