import { resolve } from 'node:path';
import { oneLine } from '../base/text/text.js';
import { decide, type ApprovalKind, type ApprovalMode, type Verdict } from './decide.js';
import { defaultRules, OWN_FILES } from './default-rules.js';
import type { LineRequest, LineVerdict, PartVerdict } from './shell/line-verdict.js';
import { answerOf } from './shell/match-command.js';
import type { UserRule, UserRules } from './user-rules.js';
import { ANY_TEXT, canMatch } from './wildcard.js';

/** What a session asks, with all that rules look at. */
export interface JudgedRequest {
  readonly mode: ApprovalMode;
  readonly kind: ApprovalKind;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Real path of the project. */
  readonly projectPath: string;
  /** Every path that the request names, absolute, links resolved. */
  readonly paths: readonly string[];
  /** Other names, in the project, of the files to which `paths` lead. */
  readonly aliases?: readonly string[] | undefined;
  /** Settings and state of the bridge itself, absolute. */
  readonly ownPlaces?: readonly string[] | undefined;
  /** Why a search may print secrets, in words. */
  readonly searchedSecret?: string | undefined;
  /** Where the session's shell is, if it says so. */
  readonly folder?: string | undefined;
}

export interface JudgedVerdict extends Verdict {
  /** For a shell line: what decides about each of its commands. */
  readonly parts: readonly PartVerdict[];
}

const READING_TOOLS: ReadonlySet<string> = new Set(['Read', 'NotebookRead', 'Grep', 'Glob', 'LS']);
const EDITING_TOOLS: ReadonlySet<string> = new Set(['Edit', 'Write', 'MultiEdit', 'NotebookEdit']);
/** Enough to recognise a command by. */
const SHOWN_CHARS = 120;

/**
 * Which rule answers a request: those of the settings (deny, allow, ask), then those of the mode. Questions to the user are
 * never answered by a rule of the settings. `judgeLine` judges shell lines by the same rules.
 */
export async function judgeRequest(
  request: JudgedRequest,
  rules: UserRules,
  judgeLine: (request: LineRequest) => Promise<LineVerdict>,
): Promise<JudgedVerdict> {
  const isRuled = request.kind === 'permission' && request.tool !== 'AskUserQuestion';
  if (isRuled && request.tool === 'Bash') {
    return request.mode === 'sandboxed' ? judgeSandboxed(request, judgeLine) : judgeBash(request, judgeLine);
  }
  const named = [...namedPaths(request), ...(request.aliases ?? [])];
  const decided = decide({ ...request, named }, defaultRules);
  // No rule of the settings allows what the bridge keeps for itself.
  if (decided.rule === OWN_FILES) return { ...decided, parts: [] };
  if (isRuled) {
    for (const list of [rules.deny, rules.allow, rules.ask]) {
      const found = list.find((rule) => concerns(rule, request));
      if (found !== undefined) return { ...answerOf(found), parts: [] };
    }
  }
  const isSearch = decided.rule === 'cautious-search-secret' && request.searchedSecret !== undefined;
  return { ...decided, ...(isSearch && { reason: request.searchedSecret }), parts: [] };
}

/** In the sandbox a command may do what no rule of the settings denies or asks about; to leave it is always a question. */
async function judgeSandboxed(
  request: JudgedRequest,
  judgeLine: (request: LineRequest) => Promise<LineVerdict>,
): Promise<JudgedVerdict> {
  const judged = await judgeBash({ ...request, mode: 'auto' }, judgeLine);
  if (judged.verdict === 'deny') return judged;
  const { dangerouslyDisableSandbox: leaves = false } = request.input;
  if (leaves !== false) {
    const reason = 'it would run outside of the sandbox, with all rights of this user';
    return { ...judged, verdict: 'ask', rule: 'sandbox-left', reason };
  }
  if (judged.rule !== 'auto-permission') return judged;
  return { ...judged, rule: 'sandboxed-command', reason: 'it runs in the sandbox' };
}

async function judgeBash(
  request: JudgedRequest,
  judgeLine: (request: LineRequest) => Promise<LineVerdict>,
): Promise<JudgedVerdict> {
  const { mode, projectPath, folder, input } = request;
  const { command } = input;
  if (typeof command !== 'string') {
    return { ...decide(request, defaultRules), verdict: 'ask', reason: 'it says no command', parts: [] };
  }
  const verdict = await judgeLine({ line: command, mode, projectPath, folder });
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

function concerns({ rule, path, row }: UserRule, request: JudgedRequest): boolean {
  switch (rule.kind) {
    case 'tool':
      return namesTool(rule.tool, request.tool);
    case 'path': {
      const tools = rule.access === 'read' ? READING_TOOLS : EDITING_TOOLS;
      if (path === undefined || !tools.has(request.tool)) return false;
      // What is allowed is where the path leads; what is denied or asked is also what it is called.
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
  // A server alone stands for all of its tools.
  const pattern = named.split('__').length === 2 && !named.includes('*') ? `${named}__*` : named;
  return canMatch(
    [...pattern].map((char) => (char === '*' ? ANY_TEXT : char)),
    [...tool],
  );
}

function namedPaths({ input, projectPath }: JudgedRequest): string[] {
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
