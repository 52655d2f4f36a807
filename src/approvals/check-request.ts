// Pure.
import { resolve } from 'node:path';
import { oneLine } from '../base/text/text.js';
import { decide, type ApprovalKind, type ApprovalMode, type Verdict } from './decide.js';
import { defaultRules, OWN_FILES } from './default-rules.js';
import type { LineRequest, LineVerdict, PartVerdict } from './shell/line-verdict.js';
import { verdictOf } from './shell/match-command.js';
import type { UserRule, UserRules } from './user-rules.js';
import { ANY_TEXT, canMatch } from './wildcard.js';

/** A session's request, with everything that rules check. */
export interface RequestToCheck {
  readonly mode: ApprovalMode;
  readonly kind: ApprovalKind;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Real path of the project. */
  readonly projectPath: string;
  /** Every path that the request names, absolute, with links resolved. */
  readonly paths: readonly string[];
  /** Other names in the project for the files in `paths`. */
  readonly aliases?: readonly string[] | undefined;
  /** Absolute paths of the bridge's own settings and state. */
  readonly ownPlaces?: readonly string[] | undefined;
  /** A sentence that says why a search may print secrets. */
  readonly searchedSecret?: string | undefined;
  /** Working directory of the session's shell, if the session reports it. */
  readonly folder?: string | undefined;
}

export interface RequestVerdict extends Verdict {
  /** For a shell line: the verdict on each of its commands. */
  readonly parts: readonly PartVerdict[];
}

const READING_TOOLS: ReadonlySet<string> = new Set(['Read', 'NotebookRead', 'Grep', 'Glob', 'LS']);
const EDITING_TOOLS: ReadonlySet<string> = new Set(['Edit', 'Write', 'MultiEdit', 'NotebookEdit']);
/** Enough to recognise a command. */
const SHOWN_CHARS = 120;

/**
 * Finds the rule that answers a request: first the rules in the settings (deny, allow, ask), then those of the mode. Rules in
 * the settings never answer questions to the user. `checkLine` checks shell lines against the same rules.
 */
export async function checkRequest(
  request: RequestToCheck,
  rules: UserRules,
  checkLine: (request: LineRequest) => Promise<LineVerdict>,
): Promise<RequestVerdict> {
  const isRuled = request.kind === 'permission' && request.tool !== 'AskUserQuestion';
  if (isRuled && request.tool === 'Bash') {
    return request.mode === 'sandboxed' ? checkInSandbox(request, checkLine) : checkBash(request, checkLine);
  }
  const named = [...namedPaths(request), ...(request.aliases ?? [])];
  const decided = decide({ ...request, named }, defaultRules);
  // No rule in the settings can allow edits of the bridge's own files.
  if (decided.rule === OWN_FILES) return { ...decided, parts: [] };
  if (isRuled) {
    for (const list of [rules.deny, rules.allow, rules.ask]) {
      const found = list.find((rule) => matches(rule, request));
      if (found !== undefined) return { ...verdictOf(found), parts: [] };
    }
  }
  const isSearch = decided.rule === 'cautious-search-secret' && request.searchedSecret !== undefined;
  return { ...decided, ...(isSearch && { reason: request.searchedSecret }), parts: [] };
}

/** In the sandbox a command may do whatever no rule in the settings denies or asks about. Leaving the sandbox always asks. */
async function checkInSandbox(
  request: RequestToCheck,
  checkLine: (request: LineRequest) => Promise<LineVerdict>,
): Promise<RequestVerdict> {
  const checked = await checkBash({ ...request, mode: 'auto' }, checkLine);
  if (checked.verdict === 'deny') return checked;
  const { dangerouslyDisableSandbox: leaves = false } = request.input;
  if (leaves !== false) {
    const reason = 'it would run outside the sandbox, with all of this user’s rights';
    return { ...checked, verdict: 'ask', rule: 'sandbox-left', reason };
  }
  if (checked.rule !== 'auto-permission') return checked;
  return { ...checked, rule: 'sandboxed-command', reason: 'it runs in the sandbox' };
}

async function checkBash(
  request: RequestToCheck,
  checkLine: (request: LineRequest) => Promise<LineVerdict>,
): Promise<RequestVerdict> {
  const { mode, projectPath, folder, input } = request;
  const { command } = input;
  if (typeof command !== 'string') {
    return { ...decide(request, defaultRules), verdict: 'ask', reason: 'it contains no command', parts: [] };
  }
  const verdict = await checkLine({ line: command, mode, projectPath, folder });
  const decisive =
    verdict.parts.length > 1
      ? verdict.parts.find((part) => part.reason === verdict.reason && part.verdict === verdict.verdict)
      : undefined;
  const reason =
    decisive === undefined || verdict.verdict === 'allow'
      ? verdict.reason
      : `${verdict.reason} (${oneLine(decisive.part, SHOWN_CHARS)})`;
  return { verdict: verdict.verdict, rule: verdict.rule, reason, parts: verdict.parts };
}

function matches({ rule, path, row }: UserRule, request: RequestToCheck): boolean {
  switch (rule.kind) {
    case 'tool':
      return namesTool(rule.tool, request.tool);
    case 'path': {
      const tools = rule.access === 'read' ? READING_TOOLS : EDITING_TOOLS;
      if (path === undefined || !tools.has(request.tool)) return false;
      // An allow rule checks the resolved path; deny and ask rules also check the path as written.
      if (row.verdict === 'allow') return request.paths.length > 0 && request.paths.every(path);
      return [...request.paths, ...namedPaths(request)].some(path);
    }
    case 'domain':
      return request.tool === 'WebFetch' && isAtHost(request.input['url'], rule.host);
    case 'agent':
      return (
        (request.tool === 'Task' || request.tool === 'Agent') && request.input['subagent_type'] === rule.name
      );
    case 'command':
      return false;
  }
}

function namesTool(named: string, tool: string): boolean {
  if (named === tool) return true;
  if (named === 'Edit') return EDITING_TOOLS.has(tool);
  if (named === 'Read') return READING_TOOLS.has(tool);
  if (named === 'Task' || named === 'Agent') return tool === 'Task' || tool === 'Agent';
  if (!named.startsWith('mcp__')) return false;
  // A server's name alone covers all of its tools.
  const pattern = named.split('__').length === 2 && !named.includes('*') ? `${named}__*` : named;
  return canMatch(
    [...pattern].map((char) => (char === '*' ? ANY_TEXT : char)),
    [...tool],
  );
}

function namedPaths({ input, projectPath }: RequestToCheck): string[] {
  return ['file_path', 'notebook_path', 'path'].flatMap((field) => {
    const value = input[field];
    return typeof value === 'string' && value !== '' ? [resolve(projectPath, value)] : [];
  });
}

function isAtHost(url: unknown, host: string): boolean {
  if (typeof url !== 'string') return false;
  const whole = /^[a-z]+:\/\//i.test(url) ? url : `https://${url}`;
  if (!URL.canParse(whole)) return false;
  const asked = new URL(whole).hostname.replace(/\.$/, '');
  return host.startsWith('*.') ? asked.endsWith(host.slice(1)) : asked === host;
}
