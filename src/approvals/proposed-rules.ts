// Pure: the rule that allows exactly what a request asks, from now on.
import { resolve } from 'node:path';
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
