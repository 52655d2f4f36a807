// Pure: the rule that allows exactly what a request asks, from now on, and which rules allow too much to be written with one press.
import { resolve } from 'node:path';
import { hasUnseen } from '../base/text.js';
import { MAX_RULE_CHARS, parsePermissionRule, type PermissionRule } from './permission-rule.js';
import { addressOf, commandOf, pathsOf, toolRow } from './tool-table.js';

export interface RequestToAllow {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly projectPath: string;
}

/** Rules that allow; or why there are none. */
export type ProposedRules = { readonly rules: readonly string[] } | { readonly why: string };

const NOT_IN_PATTERNS = /[*?[\]{}\\]/;

/** This command, this file, this host, this tool of an MCP server: nothing more. */
export function proposedRules({ tool, input, projectPath }: RequestToAllow): ProposedRules {
  const row = toolRow(tool);
  const command = commandOf(tool, input);
  if (command !== undefined && /[\\*]/.test(command))
    return { why: 'a rule cannot name a command with a backslash or a star exactly' };
  // Claude Code holds Monitor to the rules of Bash (2.1.330).
  if (command !== undefined) return { rules: [`Bash(${command})`] };
  const [path] = pathsOf(tool, input);
  if (path !== undefined && (row?.effect === 'reads' || row?.effect === 'edits')) {
    const whole = resolve(projectPath, path);
    if (NOT_IN_PATTERNS.test(whole)) return { why: 'the path has characters that are wildcards in a rule' };
    return { rules: [`${row.effect === 'reads' ? 'Read' : 'Edit'}(/${whole})`] };
  }
  const address = addressOf(tool, input);
  if (tool === 'WebFetch')
    return address === undefined
      ? { why: 'it names no address' }
      : { rules: [`WebFetch(domain:${address.hostname})`] };
  if (tool.startsWith('mcp__') || tool === 'WebSearch') return { rules: [tool] };
  return { why: `a rule for ${tool} would allow every use of it` };
}

/** What they do is the same each time. */
const NARROW_TOOLS: ReadonlySet<string> = new Set(['WebSearch']);

/** Why the rule is not to be written, in words that follow "The rule …": it is none, or it would allow everything of its kind. */
export function whyNotWritten(text: string): string | undefined {
  if (text.length > MAX_RULE_CHARS) return `is longer than ${MAX_RULE_CHARS} characters`;
  if (hasUnseen(text)) return 'contains characters that are not seen';
  const read = parsePermissionRule(text);
  return 'expected' in read ? `is invalid: expected ${read.expected}` : whyTooWide(read.rule);
}

function whyTooWide(rule: PermissionRule): string | undefined {
  switch (rule.kind) {
    case 'tool':
      return /^mcp__.+__[^*]+$/.test(rule.tool) || NARROW_TOOLS.has(rule.tool)
        ? undefined
        : `would allow every use of ${rule.tool}`;
    case 'command': {
      // Claude Code reads two of them as one, before it looks for a star (2.1.332).
      if (rule.pattern.includes('\\'))
        return 'must not contain a backslash, which Claude Code may read differently';
      const star = rule.pattern.indexOf('*');
      const literal = star === -1 ? rule.pattern : rule.pattern.slice(0, star);
      return star !== -1 && !literal.includes(' ') ? 'must name a program before its *' : undefined;
    }
    case 'path':
      return /[\p{L}\p{N}]/u.test(rule.plain) ? undefined : 'would allow every file';
    case 'domain':
    case 'named':
      return undefined;
  }
}
