// Pure: what a mode answers to a request of Claude Code.
import type { ApprovalKind, ApprovalMode, RuleRow } from './modes.js';
import { TERMINAL_PROMPT } from './permission-rule.js';
import { commandOf } from './tool-table.js';

export interface AskedRequest {
  readonly kind: ApprovalKind;
  /** The tool's name, or the dialog's id. */
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Why Claude Code asks, where that is known. */
  readonly why?: string | undefined;
}

export interface RequestAnswer {
  readonly verdict: 'allow' | 'deny' | 'ask';
  /** What decided, for the log. */
  readonly rule: string;
  /** The reason that a person reads. */
  readonly reason: string;
}

/** Everything that mode auto does not need is a person's to answer. Of the rules, only those about TERMINAL_PROMPT are read, and whether there are any. */
export function answerOf(
  request: AskedRequest,
  mode: ApprovalMode,
  rules: readonly RuleRow[],
): RequestAnswer {
  const { kind, tool, why } = request;
  switch (kind) {
    case 'question':
      return answer('ask', 'question', 'only the user can answer this question');
    case 'prompt':
      return answer(
        'ask',
        'start-prompt',
        'it changes billing or safety settings, which only a person decides',
      );
    case 'plan':
      return mode === 'auto'
        ? answer('allow', 'auto-plan', 'mode auto approves finished plans')
        : answer('ask', `${mode}-plan`, 'a person reads the plan first');
    case 'trust':
      return mode === 'auto' && AUTO_TRUSTS.has(tool)
        ? answer('allow', 'auto-trust', 'the caller chose this project, and mode auto trusts it')
        : answer(
            'ask',
            `${mode}-trust`,
            'trusting a folder or its MCP servers lets the project run programs',
          );
    case 'permission':
      break;
  }
  if (tool === 'AskUserQuestion') return answer('ask', 'question', 'only the user can answer this question');
  if (tool === 'SandboxNetworkAccess')
    return answer('deny', 'sandbox-network', 'the setting sandbox_domains does not list this host');
  if (tool === TERMINAL_PROMPT) {
    const row = rules.find(({ rule }) => rule === TERMINAL_PROMPT);
    if (row !== undefined) return answer(row.verdict, row.rule, row.reason);
    if (mode === 'auto') return answer('allow', 'auto', 'mode auto allows what no rule asks about');
  }
  // No rule can be what asks, and whatever Claude Code fears, the kernel keeps the command in the sandbox.
  if (mode === 'sandboxed' && rules.every(({ verdict }) => verdict === 'allow') && staysInSandbox(request))
    return answer('allow', 'sandboxed-command', 'it runs in the sandbox');
  return answer('ask', 'claude-code', why ?? 'Claude Code asks about it');
}

function staysInSandbox({ tool, input }: AskedRequest): boolean {
  const { dangerouslyDisableSandbox: leaves = false } = input;
  return commandOf(tool, input) !== undefined && leaves === false;
}

const AUTO_TRUSTS: ReadonlySet<string> = new Set(['trust-folder', 'project-mcp-server']);

function answer(verdict: RequestAnswer['verdict'], rule: string, reason: string): RequestAnswer {
  return { verdict, rule, reason };
}
