// Pure: what the bridge says about a tool call before Claude Code judges it.
import { oneLine } from '../base/text.js';
import { plainPath } from '../projects/name-list.js';
import { isWithin } from '../projects/path-in-project.js';
import { runsLater } from '../projects/live-names.js';
import { isSecret, isSecretName } from '../projects/secret-names.js';
import { worktreeOf } from '../projects/worktree-path.js';
import { mentionedRule } from './mentions.js';
import { parsePermissionRule } from './permission-rule.js';
import { addressOf, commandOf, toolRow, type ToolEffect } from './tool-table.js';
import type { ApprovalMode, RuleRow } from './modes.js';

export interface ToolCall {
  readonly mode: ApprovalMode;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
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

export interface ToolVerdict {
  /** `pass`: Claude Code decides, by the rules that it was given and its own. */
  readonly verdict: 'allow' | 'deny' | 'ask' | 'pass';
  /** What decided, for the log. */
  readonly rule: string;
  /** The reason that a person reads. */
  readonly reason: string;
}

const MAX_NAME_CHARS = 100;
const PASSED: ToolVerdict = { verdict: 'pass', rule: 'claude-code', reason: 'Claude Code decides' };

/** The verdict of the bridge on a call. Claude Code asks about and denies more; no `allow` is stronger than its rules. */
export function judge(call: ToolCall): ToolVerdict {
  const { tool, mode, rules } = call;
  const row = toolRow(tool);
  if (row?.effect === 'edits' && call.paths.some((path) => isOwn(path, call)))
    return verdict(
      'deny',
      'own-files',
      'it belongs to the bridge’s own settings or state, which no session may edit',
    );
  const named = ruleMentioned(call);
  if (named !== undefined) return verdict('ask', named.rule, `your rule ${named.rule}: ${named.reason}`);
  if (row?.effect === 'asks') return PASSED;
  if (tool === 'SendMessage' && !isToOwnAgent(call))
    return mayBeAllowed(call, 'steers')
      ? PASSED
      : verdict('ask', 'other-session', 'it sends a message to another session');
  if (mode === 'claude') return PASSED;
  if (mode === 'auto') {
    return row === undefined && rules.length > 0
      ? unknownTool(tool)
      : verdict('allow', 'auto', 'mode auto allows what no rule asks about');
  }
  if (row === undefined) return unknownTool(tool);
  const found = carefully(call, row.effect);
  // Claude Code knows whether a rule that allows is about this very call, and asks where none is.
  return found.verdict === 'ask' && mayBeAllowed(call, row.effect) ? PASSED : found;
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
      return verdict('allow', `${call.mode}-notes`, 'it only changes what the session knows');
    case 'fetches':
      return verdict('ask', `${call.mode}-network`, 'it accesses the network');
    case 'steers':
      return verdict('ask', `${call.mode}-steers`, 'it acts on other sessions, or on later turns');
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
  const { mode, paths, folder, plansFolder } = call;
  // Claude Code knows its own plan.
  const isPlan = plansFolder !== undefined && paths.every((path) => isWithin(path, plansFolder));
  if (paths.length === 0 || isPlan) return PASSED;
  if (paths.some((path) => isSecret(path, folder)))
    return verdict('ask', `${mode}-secret`, 'the file’s name suggests that it holds secrets');
  if (
    !paths.every(
      (path) => path !== folder && isWithin(path, folder) && worktreeOf(path) === worktreeOf(folder),
    )
  )
    return verdict('ask', `${mode}-outside`, 'the file is outside of the folder of this task');
  if (effect === 'reads') return verdict('allow', `${mode}-read`, 'it reads a project file');
  if (paths.some((path) => isProtected(path, call)))
    return verdict('ask', `${mode}-protected`, 'the file can run programs, or instruct agents');
  return verdict('allow', `${mode}-edit`, 'it edits a project file');
}

function aboutCommand(call: ToolCall): ToolVerdict {
  const { mode, tool, input } = call;
  const command = commandOf(tool, input);
  // Each call of an agent is checked.
  if (command === undefined)
    return tool === 'Agent'
      ? PASSED
      : verdict('ask', `${mode}-runs`, 'it runs something that the bridge does not see');
  if (mode !== 'sandboxed') return aboutNames(call, command);
  const { dangerouslyDisableSandbox: leaves = false } = input;
  if (leaves !== false)
    return verdict('ask', 'sandbox-left', 'it would run outside the sandbox, with all of this user’s rights');
  return verdict('allow', 'sandboxed-command', 'it runs in the sandbox');
}

/** Outside of a sandbox Claude Code itself runs commands that read. */
function aboutNames({ mode }: ToolCall, command: string): ToolVerdict {
  const words = command.replace(/[\\'"]/g, '').split(/[^\p{L}\p{N}_.~/*-]+/u);
  const secret = words.find((word) => isSecretName(word));
  if (secret !== undefined)
    return verdict(
      'ask',
      `${mode}-secret`,
      `it names ${oneLine(secret, MAX_NAME_CHARS)}, which may hold secrets`,
    );
  return PASSED;
}

/** The first rule that asks or denies, and that the text of the command mentions. */
function ruleMentioned({ tool, input, rules }: ToolCall): RuleRow | undefined {
  const command = commandOf(tool, input);
  if (command === undefined) return undefined;
  return mentionedRule(command, rules, ['ask', 'deny']);
}

function isProtected(path: string, { folder, obeyed }: ToolCall): boolean {
  return runsLater(path, folder) || obeyed.some((one) => isWithin(plainPath(path), plainPath(one)));
}

function isToOwnAgent({ input, ownAgents }: ToolCall): boolean {
  const { to } = input;
  return typeof to === 'string' && (to === 'main' || ownAgents.has(to));
}

function isOwn(path: string, { ownPlaces }: ToolCall): boolean {
  return ownPlaces.some((place) => isWithin(plainPath(path), plainPath(place)));
}

function unknownTool(tool: string): ToolVerdict {
  return verdict('ask', 'unknown-tool', `the bridge does not know what the tool ${tool} does`);
}

function verdict(found: ToolVerdict['verdict'], rule: string, reason: string): ToolVerdict {
  return { verdict: found, rule, reason };
}
