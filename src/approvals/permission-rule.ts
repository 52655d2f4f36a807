// Pure: parses a permission rule in Claude Code's syntax, such as `Bash(git diff *)`. Settings and approvals both use it.
import { nearestName } from '../base/input.js';
import { knownTools } from './tool-table.js';

/** Bounds a rule, whose words are looked for in every command. */
export const MAX_RULE_CHARS = 300;

export type PermissionRule =
  /** Every use of the named tools; only names of MCP tools may contain a `*`. */
  | { readonly kind: 'tool'; readonly tool: string }
  /** Shell commands; `*` matches any text, `\*` a literal star, ` *` at the end also no argument at all. */
  | { readonly kind: 'command'; readonly pattern: string }
  /** Files, with a pattern as in `.gitignore`; `plain` is it with a `?` for each class of characters. */
  | {
      readonly kind: 'path';
      readonly access: 'read' | 'edit';
      readonly pattern: string;
      readonly plain: string;
    }
  /** Pages of one host; a leading `*.` matches its subdomains. */
  | { readonly kind: 'domain'; readonly host: string }
  /** One subagent or skill, by name. */
  | { readonly kind: 'named'; readonly tool: 'Agent' | 'Skill'; readonly name: string };

export type ParsedRule = { readonly rule: PermissionRule } | { readonly expected: string };

const FORM =
  'a rule such as "Bash(git diff *)", "Edit(src/**)", "WebFetch(domain:example.com)" or "mcp__server__tool"';
/** A question of a program that is not Claude Code. */
export const TERMINAL_PROMPT = 'terminal-prompt';
/** Task is the older name of Agent, which Claude Code still takes. */
const TOOLS: readonly string[] = [...knownTools, 'Task', TERMINAL_PROMPT];

/** Parses a rule; on failure `expected` says what was expected. */
export function parsePermissionRule(text: string): ParsedRule {
  const match = /^([A-Za-z][\w.*-]*)(?:\(([^]*)\))?$/.exec(text);
  const tool = match?.[1];
  if (tool === undefined) return { expected: FORM };
  const specifier = match?.[2];
  if (tool.startsWith('mcp__')) return mcpRule(tool, specifier);
  if (tool.includes('*')) return { expected: 'a tool’s full name (only mcp__… names may contain a *)' };
  // A rule for a tool that it does not have is one that Claude Code ignores without a word.
  if (!TOOLS.includes(tool)) {
    const same = TOOLS.find((known) => known.toLowerCase() === tool.toLowerCase());
    const meant = same ?? nearestName(tool, TOOLS) ?? TOOLS.join(', ');
    return { expected: `a tool of Claude Code, as it spells it: ${meant}` };
  }
  return specifier === undefined ? { rule: { kind: 'tool', tool } } : withSpecifier(tool, specifier);
}

function mcpRule(tool: string, specifier: string | undefined): ParsedRule {
  if (specifier !== undefined) return { expected: 'no brackets after the name of an MCP tool' };
  return /^mcp__[^_*]/.test(tool)
    ? { rule: { kind: 'tool', tool } }
    : { expected: 'the name of an MCP server, as in mcp__server, mcp__server__tool or mcp__server__*' };
}

/** Tools that the rules of another one cover. */
const COVERED: Readonly<Record<string, string>> = {
  Monitor: 'Bash',
  Write: 'Edit',
  NotebookEdit: 'Edit',
  Grep: 'Read',
  Glob: 'Read',
};

function withSpecifier(tool: string, specifier: string): ParsedRule {
  const covering = COVERED[tool];
  if (covering !== undefined) return { expected: `${covering}(${specifier}), which covers ${tool}, too` };
  switch (tool) {
    case 'Bash':
      return commandRule(specifier);
    case 'Read':
    case 'Edit':
      return pathRule(tool === 'Read' ? 'read' : 'edit', specifier);
    case 'WebFetch':
      return domainRule(specifier);
    case 'Task':
    case 'Agent':
    case 'Skill':
      return namedRule(tool === 'Skill' ? 'Skill' : 'Agent', specifier);
    default:
      return {
        expected: `${tool} without brackets (only Bash, Read, Edit, WebFetch, Agent and Skill take them)`,
      };
  }
}

function namedRule(tool: 'Agent' | 'Skill', name: string): ParsedRule {
  return /^[\w:.-]+$/.test(name)
    ? { rule: { kind: 'named', tool, name } }
    : { expected: `one name in the brackets, as in ${tool}(reviewer)` };
}

function commandRule(specifier: string): ParsedRule {
  if (specifier === '*') return { rule: { kind: 'tool', tool: 'Bash' } };
  if (specifier.trim() !== specifier || specifier === '') {
    return { expected: 'a command without spaces around it, as in Bash(git diff *)' };
  }
  const prefix = /^([^]+):\*$/.exec(specifier)?.[1];
  const pattern = prefix === undefined ? specifier : `${prefix} *`;
  if (pattern.includes(':*')) return { expected: ':* only at the end of a command, as in Bash(npm test:*)' };
  return { rule: { kind: 'command', pattern } };
}

/** As it was measured with 2.1.332, which takes the opposite of a class for the class itself: `[!a]` matches `a`. */
const CLASS = /\[[\w.-]+\]/g;

function pathRule(access: 'read' | 'edit', specifier: string): ParsedRule {
  if (specifier === '' || specifier.trim() !== specifier)
    return { expected: 'a path without spaces around it, as in Edit(src/**)' };
  if (specifier.startsWith('!'))
    return { expected: 'a path without ! (write an exception as a rule of its own)' };
  const plain = specifier.replace(CLASS, '?');
  if (/[[\]{}\\]/.test(plain))
    return { expected: 'a path whose only wildcards are *, **, ? and classes such as [a-c]' };
  if (specifier.startsWith('~') && !/^~(\/|$)/.test(specifier))
    return { expected: '~/ (the home folder of another user is not supported)' };
  // Claude Code skips the row and, at a terminal, stops at a dialog about it (2.1.332).
  if (specifier.includes(':*')) return { expected: ':* only at the end of a command' };
  const names = specifier.split('/');
  if (names.includes('..') || names.slice(1).includes('.') || specifier === '.')
    return { expected: 'a path without .. and ., but a leading ./' };
  return { rule: { kind: 'path', access, pattern: specifier, plain } };
}

function domainRule(specifier: string): ParsedRule {
  const host = /^domain:((?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*)$/i.exec(specifier)?.[1];
  return host === undefined
    ? { expected: 'a host, as in WebFetch(domain:example.com) or WebFetch(domain:*.example.com)' }
    : { rule: { kind: 'domain', host: host.toLowerCase() } };
}
