// Pure: which rules allow too much to be written with one press.
import { hasUnseen } from '../base/text/unseen-characters.js';
import { MAX_RULE_CHARS, parsePermissionRule, type PermissionRule } from './permission-rule.js';

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
