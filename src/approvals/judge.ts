// Pure: what the bridge says about a tool call before Claude Code judges it, and what it answers to a request of Claude Code.
import { oneLine } from '../base/text.js';
import { plainPath } from '../projects/name-list.js';
import { isWithin } from '../projects/path-in-project.js';
import { runsLater } from '../projects/live-names.js';
import { isSecret, isSecretName } from '../projects/secret-names.js';
import { worktreeOf } from '../projects/worktree-path.js';
import { mentionedRule } from './mentions.js';
import { parsePermissionRule, TERMINAL_PROMPT } from './permission-rule.js';
import { addressOf, commandOf, toolRow, type ToolEffect } from './tool-table.js';
import type { approvalKinds, ApprovalMode, RuleRow } from './modes.js';

interface Call {
  /** The tool's name, or the dialog's id. */
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface ToolCall extends Call {
  readonly mode: ApprovalMode;
  /** Real path of the folder in which the task works. */
  readonly folder: string;
  /** Every path that the call names, absolute, as it is written and with its links resolved. */
  readonly paths: readonly string[];
  /** Files of the project that instruct agents or that its git obeys, absolute. */
  readonly obeyed: readonly string[];
  /** Agents that the session itself has started, by id. */
  readonly ownAgents: ReadonlySet<string>;
  /** Where Claude Code keeps the plans of sessions; undefined where that is not known. */
  readonly plansFolder: string | undefined;
  /** Absolute paths of the bridge's own settings and state. */
  readonly ownPlaces: readonly string[];
  /** The rules in the settings. Claude Code itself holds a call to them; here they only name what a command mentions. */
  readonly rules: readonly RuleRow[];
}

export interface AskedRequest extends Call {
  readonly kind: (typeof approvalKinds)[number];
  /** Why Claude Code asks, where that is known. */
  readonly why?: string | undefined;
}

interface Said<Verdict> {
  readonly verdict: Verdict;
  /** What decided, for the log. */
  readonly rule: string;
  /** The reason that a person reads. */
  readonly reason: string;
}

/** `pass`: Claude Code decides, by the rules that it was given and its own. */
export type ToolVerdict = Said<'allow' | 'deny' | 'ask' | 'pass'>;
export type RequestAnswer = Said<'allow' | 'deny' | 'ask'>;

const MAX_NAME_CHARS = 100;
const PASSED = said('pass', 'claude-code', 'Claude Code decides');
const BY_AUTO = said('allow', 'auto', 'mode auto allows what no rule asks about');
const IN_SANDBOX = said('allow', 'sandboxed-command', 'it runs in the sandbox');
const QUESTION = said('ask', 'question', 'only the user can answer this question');
const AUTO_TRUSTS: ReadonlySet<string> = new Set(['trust-folder', 'project-mcp-server']);

/** The verdict of the bridge on a call. Claude Code asks about and denies more; no `allow` is stronger than its rules. */
export function judge(call: ToolCall): ToolVerdict {
  const { tool, input, mode, rules, paths, ownPlaces } = call;
  const effect = toolRow(tool)?.effect;
  const isOwn = (path: string): boolean => ownPlaces.some((place) => isAt(path, place));
  if (effect === 'edits' && paths.some(isOwn))
    return said(
      'deny',
      'own-files',
      'it belongs to the bridge’s own settings or state, which no session may edit',
    );
  // A rule reminds by what the text of a command mentions.
  const named = mentionedRule(commandOf(tool, input) ?? '', rules, ['ask', 'deny']);
  if (named !== undefined) return said('ask', named.rule, `your rule ${named.rule}: ${named.reason}`);
  if (effect === 'asks') return PASSED;
  if (tool === 'SendMessage' && !isToOwnAgent(call))
    return mayBeAllowed(call, 'steers')
      ? PASSED
      : said('ask', 'other-session', 'it sends a message to another session');
  if (mode === 'claude') return PASSED;
  if (mode === 'auto' && (effect !== undefined || rules.length === 0)) return BY_AUTO;
  if (effect === undefined)
    return said('ask', 'unknown-tool', `the bridge does not know what the tool ${tool} does`);
  const found = carefully(call, effect);
  // Claude Code knows whether a rule that allows is about this very call, and asks where none is.
  return found.verdict === 'ask' && mayBeAllowed(call, effect) ? PASSED : found;
}

/** Everything that mode auto does not need is a person's to answer. Of the rules, only those about TERMINAL_PROMPT are read, and whether there are any. */
export function answerOf(asked: AskedRequest, mode: ApprovalMode, rules: readonly RuleRow[]): RequestAnswer {
  const { kind, tool } = asked;
  if (tool === 'AskUserQuestion') return QUESTION;
  switch (kind) {
    case 'question':
      return QUESTION;
    case 'prompt':
      return said(
        'ask',
        'start-prompt',
        'it changes billing or safety settings, which only a person decides',
      );
    case 'plan':
      return mode === 'auto'
        ? said('allow', 'auto-plan', 'mode auto approves finished plans')
        : said('ask', `${mode}-plan`, 'a person reads the plan first');
    case 'trust':
      return mode === 'auto' && AUTO_TRUSTS.has(tool)
        ? said('allow', 'auto-trust', 'the caller chose this project, and mode auto trusts it')
        : said('ask', `${mode}-trust`, 'trusting a folder or its MCP servers lets the project run programs');
    case 'permission':
      return aboutPermission(asked, mode, rules);
  }
}

function aboutPermission(asked: AskedRequest, mode: ApprovalMode, rules: readonly RuleRow[]): RequestAnswer {
  const { tool, input, why } = asked;
  if (tool === 'SandboxNetworkAccess')
    return said('deny', 'sandbox-network', 'the setting sandbox_domains does not list this host');
  const row = tool === TERMINAL_PROMPT ? rules.find(({ rule }) => rule === TERMINAL_PROMPT) : undefined;
  if (row !== undefined) return said(row.verdict, row.rule, row.reason);
  if (tool === TERMINAL_PROMPT && mode === 'auto') return BY_AUTO;
  // No rule can be what asks, and whatever Claude Code fears, the kernel keeps the command in the sandbox.
  const mayRun = mode === 'sandboxed' && rules.every(({ verdict }) => verdict === 'allow');
  if (mayRun && commandOf(tool, input) !== undefined && !leavesSandbox(input)) return IN_SANDBOX;
  return said('ask', 'claude-code', why ?? 'Claude Code asks about it');
}

/** Whether a rule of the settings may allow this call: its kind where Claude Code always asks, else this very call alone. */
function mayBeAllowed({ tool, input, rules, paths, folder }: ToolCall, effect: ToolEffect): boolean {
  if (commandOf(tool, input) !== undefined) return false;
  return rules.some((row) => {
    const read = row.verdict === 'allow' ? parsePermissionRule(row.rule) : undefined;
    if (read === undefined || 'expected' in read) return false;
    const { rule } = read;
    switch (rule.kind) {
      case 'path':
        if (rule.access === 'edit') return effect === 'edits';
        // Claude Code asks about no read in the folder.
        return (
          effect === 'reads' && paths.every((path) => !isWithin(path, folder) || rule.pattern === `/${path}`)
        );
      case 'domain':
        return tool === 'WebFetch' && addressOf(tool, input)?.hostname === rule.host;
      case 'tool':
        return rule.tool === tool || (tool.startsWith('mcp__') && rule.tool.startsWith('mcp__'));
      case 'named':
        return rule.tool === tool && input['skill'] === rule.name;
      case 'command':
        return false;
    }
  });
}

function carefully(call: ToolCall, effect: ToolEffect): ToolVerdict {
  switch (effect) {
    case 'notes':
      return said('allow', `${call.mode}-notes`, 'it only changes what the session knows');
    case 'fetches':
      return said('ask', `${call.mode}-network`, 'it accesses the network');
    case 'steers':
      return said('ask', `${call.mode}-steers`, 'it acts on other sessions, or on later turns');
    case 'reads':
    case 'edits':
      return aboutFiles(call, effect);
    case 'runs':
      return aboutCommand(call);
    case 'searches':
    case 'asks':
      return PASSED;
  }
}

function aboutFiles(call: ToolCall, effect: 'reads' | 'edits'): ToolVerdict {
  const { mode, paths, folder, plansFolder, obeyed } = call;
  // Claude Code knows its own plan.
  const isPlan = plansFolder !== undefined && paths.every((path) => isWithin(path, plansFolder));
  if (paths.length === 0 || isPlan) return PASSED;
  if (paths.some((path) => isSecret(path, folder)))
    return said('ask', `${mode}-secret`, 'the file’s name suggests that it holds secrets');
  const isInside = (path: string): boolean =>
    path !== folder && isWithin(path, folder) && worktreeOf(path) === worktreeOf(folder);
  if (!paths.every(isInside))
    return said('ask', `${mode}-outside`, 'the file is outside of the folder of this task');
  if (effect === 'reads') return said('allow', `${mode}-read`, 'it reads a project file');
  if (paths.some((path) => runsLater(path, folder) || obeyed.some((one) => isAt(path, one))))
    return said('ask', `${mode}-protected`, 'the file can run programs, or instruct agents');
  return said('allow', `${mode}-edit`, 'it edits a project file');
}

function aboutCommand({ mode, tool, input }: ToolCall): ToolVerdict {
  const command = commandOf(tool, input);
  // Each call of an agent is checked.
  if (command === undefined && tool === 'Agent') return PASSED;
  if (command === undefined)
    return said('ask', `${mode}-runs`, 'it runs something that the bridge does not see');
  if (mode === 'sandboxed')
    return leavesSandbox(input)
      ? said('ask', 'sandbox-left', 'it would run outside the sandbox, with all of this user’s rights')
      : IN_SANDBOX;
  // Outside of a sandbox Claude Code itself runs commands that read.
  const words = command.replace(/[\\'"]/g, '').split(/[^\p{L}\p{N}_.~/*-]+/u);
  const secret = words.find((word) => isSecretName(word));
  if (secret === undefined) return PASSED;
  const name = oneLine(secret, MAX_NAME_CHARS);
  return said('ask', `${mode}-secret`, `it names ${name}, which may hold secrets`);
}

function leavesSandbox({ dangerouslyDisableSandbox: leaves = false }: Call['input']): boolean {
  return leaves !== false;
}

function isToOwnAgent({ input: { to }, ownAgents }: ToolCall): boolean {
  return typeof to === 'string' && (to === 'main' || ownAgents.has(to));
}

function isAt(path: string, place: string): boolean {
  return isWithin(plainPath(path), plainPath(place));
}

function said<const Verdict extends ToolVerdict['verdict']>(
  verdict: Verdict,
  rule: string,
  reason: string,
): Said<Verdict> {
  return { verdict, rule, reason };
}
