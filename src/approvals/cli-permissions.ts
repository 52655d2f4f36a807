// Pure: which uses of tools Claude Code is to ask about, so that our rules see them.
import { readPermissionRule } from '../base/permission-rule.js';
import { liveNames } from '../projects/live-names.js';
import type { NameGlobs } from '../projects/name-list.js';
import { secretNames } from '../projects/secret-names.js';
import type { ApprovalMode } from './decide.js';
import type { RuleRow } from './user-rules.js';

/** The part `permissions` of Claude Code's settings, for one run. */
export interface CliPermissions {
  readonly ask: readonly string[];
}

/**
 * In mode cautious these are asked about; by itself Claude Code reads what lies in its folder without a question. Which
 * commands it asks about is its own judgement.
 */
const CAUTIOUS_ASKS: readonly string[] = [
  'WebFetch',
  'WebSearch',
  ...nameRules('Read', secretNames),
  ...nameRules('Edit', liveNames),
];

/** Rules in Claude Code's own syntax for every file that the list names; that of a folder holds for all below it. */
export function nameRules(tool: 'Read' | 'Edit', { folders, files }: NameGlobs): string[] {
  return [...folders, ...files].map((glob) => `${tool}(**/${glob})`);
}

/**
 * Claude Code allows much by itself, by its own rules and those of its settings files. What a rule of ours denies or asks
 * about it is told to ask about: then the answer is ours, with our reason.
 */
export function cliPermissions(
  rows: readonly RuleRow[],
  mode: ApprovalMode,
  projectPath: string,
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
  return { ask: [...new Set([...ask, ...(mode === 'cautious' ? CAUTIOUS_ASKS : [])])] };
}

/** A path that begins in the project, said from the root: Claude Code would take it from elsewhere. */
function absolutePattern(pattern: string, projectPath: string): string {
  if (pattern.startsWith('//') || pattern.startsWith('~')) return pattern;
  const isAnchored = pattern.slice(0, -1).includes('/');
  const rest = pattern.replace(/^\.?\//, '');
  return `/${projectPath}/${isAnchored ? '' : '**/'}${rest}`;
}
