// Pure: one permission rule as Claude Code writes it, `Bash(git diff *)` for instance. Settings and approvals both read it.

/** The longest rule; a rule is matched against every part of a command line. */
export const MAX_RULE_CHARS = 300;

/** What a rule is about. */
export type PermissionRule =
  /** Every use of the tools that the pattern names; only names of MCP tools may hold a `*`. */
  | { readonly kind: 'tool'; readonly tool: string }
  /** Shell commands; `*` stands for any text, `\*` for a star, ` *` at the end also for no argument at all. */
  | { readonly kind: 'command'; readonly pattern: string }
  /** Files, with a pattern as in `.gitignore`. */
  | { readonly kind: 'path'; readonly access: 'read' | 'edit'; readonly pattern: string }
  /** Pages of one host; `*.` at the beginning stands for the hosts below it. */
  | { readonly kind: 'domain'; readonly host: string }
  /** A subagent of one name. */
  | { readonly kind: 'agent'; readonly name: string };

export type ReadRule = { readonly rule: PermissionRule } | { readonly fault: string };

const FORM =
  'a rule such as "Bash(git diff *)", "Edit(src/**)", "WebFetch(domain:example.com)" or "mcp__server__tool"';
/** Tools whose names people write; another case of the same letters is a slip. */
const KNOWN_TOOLS = [
  'Agent',
  'AskUserQuestion',
  'Bash',
  'BashOutput',
  'Edit',
  'ExitPlanMode',
  'Glob',
  'Grep',
  'KillShell',
  'LS',
  'MultiEdit',
  'NotebookEdit',
  'NotebookRead',
  'Read',
  'Skill',
  'SlashCommand',
  'Task',
  'TodoWrite',
  'WebFetch',
  'WebSearch',
  'Write',
];

/** Reads a rule; the error says what was expected instead. */
export function readPermissionRule(text: string): ReadRule {
  const match = /^([A-Za-z][\w.*-]*)(?:\(([^]*)\))?$/.exec(text);
  const tool = match?.[1];
  if (tool === undefined) return { fault: FORM };
  const specifier = match?.[2];
  const near = KNOWN_TOOLS.find((known) => known !== tool && known.toLowerCase() === tool.toLowerCase());
  if (near !== undefined) return { fault: `the tool's name as Claude Code writes it, ${near}` };
  if (tool.startsWith('mcp__')) return mcpRule(tool, specifier);
  if (tool.includes('*')) return { fault: 'a tool by its whole name (a * may stand in mcp__… names only)' };
  if (specifier === undefined) return { rule: { kind: 'tool', tool } };
  return withSpecifier(tool, specifier);
}

function mcpRule(tool: string, specifier: string | undefined): ReadRule {
  if (specifier !== undefined) return { fault: 'no brackets behind the name of an MCP tool' };
  return /^mcp__[^_*]/.test(tool)
    ? { rule: { kind: 'tool', tool } }
    : { fault: 'the name of an MCP server, as in mcp__server, mcp__server__tool or mcp__server__*' };
}

function withSpecifier(tool: string, specifier: string): ReadRule {
  switch (tool) {
    case 'Bash':
      return commandRule(specifier);
    case 'Read':
      return pathRule('read', specifier);
    case 'Edit':
      return pathRule('edit', specifier);
    case 'Write':
    case 'MultiEdit':
    case 'NotebookEdit':
      return { fault: `Edit(${specifier}), which holds for every tool that writes files` };
    case 'Grep':
    case 'Glob':
    case 'LS':
    case 'NotebookRead':
      return { fault: `Read(${specifier}), which holds for every tool that reads files` };
    case 'WebFetch':
      return domainRule(specifier);
    case 'Task':
    case 'Agent':
      return /^[\w:.-]+$/.test(specifier)
        ? { rule: { kind: 'agent', name: specifier } }
        : { fault: 'the name of a subagent, as in Task(reviewer)' };
    default:
      return { fault: `${tool} without brackets (they are known for Bash, Read, Edit, WebFetch and Task)` };
  }
}

function commandRule(specifier: string): ReadRule {
  if (specifier === '*') return { rule: { kind: 'tool', tool: 'Bash' } };
  if (specifier.trim() !== specifier || specifier === '') {
    return { fault: 'a command without spaces around it, as in Bash(git diff *)' };
  }
  const prefix = /^([^]+):\*$/.exec(specifier)?.[1];
  const pattern = prefix === undefined ? specifier : `${prefix} *`;
  if (pattern.includes(':*')) return { fault: ':* only at the end of a command, as in Bash(npm run test:*)' };
  return { rule: { kind: 'command', pattern } };
}

function pathRule(access: 'read' | 'edit', specifier: string): ReadRule {
  if (specifier === '') return { fault: 'a path, as in Edit(src/**)' };
  if (specifier.startsWith('!'))
    return { fault: 'a path without ! (what is not to hold is a rule of its own)' };
  if (/[[\]{}\\]/.test(specifier)) return { fault: 'a path in which only *, ** and ? stand for other text' };
  if (specifier.startsWith('~') && !/^~(\/|$)/.test(specifier))
    return { fault: '~/, as the home of another user is not looked up' };
  if (specifier.split('/').includes('..')) return { fault: 'a path without ..' };
  return { rule: { kind: 'path', access, pattern: specifier } };
}

function domainRule(specifier: string): ReadRule {
  const host = /^domain:((?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*)$/i.exec(specifier)?.[1];
  return host === undefined
    ? { fault: 'a host, as in WebFetch(domain:example.com) or WebFetch(domain:*.example.com)' }
    : { rule: { kind: 'domain', host: host.toLowerCase() } };
}
