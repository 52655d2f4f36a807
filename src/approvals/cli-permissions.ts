// Pure: the rules that Claude Code is given for one run, in its own grammar.
import { join } from 'node:path';
import type { RuleRow } from './modes.js';
import { parsePermissionRule, TERMINAL_PROMPT, type PermissionRule } from './permission-rule.js';

/** `permissions` in Claude Code's settings. It tries `deny` first, then `ask`, then `allow`. */
export interface CliPermissions {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}

export interface PermissionParts {
  readonly rows: readonly RuleRow[];
  readonly projectPath: string;
  /** The bridge's own settings and state, which no session may edit. */
  readonly ownPlaces?: readonly string[] | undefined;
  /** Of settings of the project that Claude Code does not read itself. */
  readonly projectRules?: readonly RuleRow[] | undefined;
}

/** The rules of the settings and of the project. What a mode asks about, the bridge says of each call. */
export function cliPermissions({
  rows,
  projectPath,
  ownPlaces = [],
  projectRules = [],
}: PermissionParts): CliPermissions {
  const of = (verdict: RuleRow['verdict']): string[] =>
    [
      ...rows.filter((row) => row.verdict === verdict).flatMap((row) => written(row, projectPath)),
      ...projectRules.filter((row) => row.verdict === verdict).map(({ rule }) => fromTop(rule, projectPath)),
    ].flatMap((row) => (verdict === 'deny' ? [row, ...copied(row)] : [row]));
  const own = ownPlaces.map(literal).flatMap((place) => [`Edit(/${place})`, `Edit(/${place}/**)`]);
  return { allow: of('allow'), ask: of('ask'), deny: [...of('deny'), ...own] };
}

/** The row for the copy of a project's skill or agent, which has another name. */
function copied(row: string): string[] {
  const named = /^(?:Skill|Agent|Task)\((?!project:)/;
  return named.test(row) ? [row.replace(named, (start) => `${start}project:`)] : [];
}

/** In a project's settings a path that begins with one slash begins at the project; in those of a run it does not (2.1.330). */
function fromTop(row: string, projectPath: string): string {
  return row.replace(/^(?:Read|Edit)\(\/(?!\/)/, (start) => `${start}${literal(projectPath)}/`);
}

/** The path in a pattern that matches it: Claude Code takes no escaped backslash (2.1.332). */
function literal(path: string): string {
  return path.replaceAll('\\', '?').replace(/[[\]*]/g, '\\$&');
}

function written({ rule: text, verdict }: RuleRow, projectPath: string): string[] {
  const read = parsePermissionRule(text);
  if ('expected' in read || text === TERMINAL_PROMPT) return [];
  const { rule } = read;
  if (rule.kind === 'path') return [pathRule(rule, projectPath)];
  // Claude Code's rule for a host does not cover its subdomains (2.1.330).
  const isHost = rule.kind === 'domain' && verdict !== 'allow' && !rule.host.startsWith('*.');
  return isHost ? [text, `WebFetch(domain:*.${rule.host})`] : [text];
}

/** Claude Code resolves a relative pattern of these settings from another folder. */
function pathRule(
  { access, pattern }: Extract<PermissionRule, { kind: 'path' }>,
  projectPath: string,
): string {
  const tool = access === 'read' ? 'Read' : 'Edit';
  if (pattern.startsWith('//') || pattern.startsWith('~')) return `${tool}(${pattern})`;
  const isAnchored = pattern.slice(0, -1).includes('/');
  const rest = pattern.replace(/^\.?\//, '');
  return `${tool}(/${literal(projectPath)}/${isAnchored ? '' : '**/'}${rest})`;
}

export interface DeniedEdits {
  /** Absolute. */
  readonly paths: readonly string[];
  /** Rules that match in other places, too. */
  readonly elsewhere: readonly string[];
}

/** What a sandbox holds of the rules that deny edits: on Linux it takes no wildcard, and no name at any depth (2.1.332). */
export function deniedEdits(rows: readonly RuleRow[], projectPath: string, homeDir: string): DeniedEdits {
  const paths: string[] = [];
  const elsewhere: string[] = [];
  for (const { rule: text, verdict } of rows) {
    const read = parsePermissionRule(text);
    if (verdict !== 'deny' || 'expected' in read) continue;
    if (read.rule.kind !== 'path' || read.rule.access !== 'edit') continue;
    const { pattern, plain } = read.rule;
    const place = plain.replace(/\/(?:\*\*)?$/, '');
    if (/[*?]/.test(place) || !pattern.slice(0, -1).includes('/')) elsewhere.push(text);
    if (/[*?]/.test(place)) continue;
    if (place.startsWith('//')) paths.push(place.slice(1));
    else if (place.startsWith('~')) paths.push(join(homeDir, place.slice(1)));
    else paths.push(join(projectPath, place));
  }
  return { paths, elsewhere };
}

/** What rules keep from being read, as absolute patterns: Claude Code holds them in its own sandbox, and other sandboxes are given them. */
export function deniedReads(rows: readonly RuleRow[], projectPath: string, homeDir: string): string[] {
  return rows.flatMap(({ rule: text, verdict }) => {
    const read = parsePermissionRule(text);
    if (verdict !== 'deny' || 'expected' in read) return [];
    if (read.rule.kind !== 'path' || read.rule.access !== 'read') return [];
    const path = pathRule(read.rule, projectPath).slice('Read('.length, -1);
    return [path.startsWith('~') ? join(homeDir, path.slice(1)) : path.slice(1)];
  });
}
