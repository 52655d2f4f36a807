// Pure.
import { runsLater } from '../projects/live-names.js';
import { plainPath } from '../projects/name-list.js';
import { isSecret } from '../projects/secret-names.js';
import type { ApprovalRequest, Rule } from './decide.js';
import { isInsideProject } from './project-paths.js';

/** The rule that denies edits of the bridge's own settings and state. */
export const OWN_FILES = 'own-files';

/** The built-in rules. Rules with the same verdict are tried in this order. */
export const defaultRules: readonly Rule[] = [
  {
    id: OWN_FILES,
    modes: ['auto', 'cautious', 'sandboxed'],
    kinds: ['permission'],
    tool: /^(Write|Edit|MultiEdit|NotebookEdit)$/,
    subject: namesOwnFile,
    verdict: 'deny',
    why: 'it belongs to the bridge’s own settings or state, which no session may edit',
  },
  {
    id: 'auto-permission',
    modes: ['auto'],
    kinds: ['permission'],
    // This tool asks the user, so a rule must not answer it.
    tool: /^(?!AskUserQuestion$)/,
    verdict: 'allow',
    why: 'mode auto allows what no rule denies',
  },
  {
    id: 'auto-plan',
    modes: ['auto'],
    kinds: ['plan'],
    tool: /^/,
    verdict: 'allow',
    why: 'mode auto approves finished plans',
  },
  {
    id: 'auto-trust-folder',
    modes: ['auto'],
    kinds: ['trust'],
    tool: /^trust-folder$/,
    verdict: 'allow',
    why: 'the caller chose this project, and mode auto trusts it',
  },
  {
    id: 'auto-project-mcp-server',
    modes: ['auto'],
    kinds: ['trust'],
    tool: /^project-mcp-server$/,
    verdict: 'allow',
    why: 'mode auto uses the project’s MCP servers',
  },
  {
    id: 'cautious-read',
    modes: ['cautious', 'sandboxed'],
    kinds: ['permission'],
    tool: /^(Read|NotebookRead)$/,
    subject: (request) => request.paths.length > 0 && everyPathInProject(request) && !namesSecret(request),
    verdict: 'allow',
    why: 'it reads a project file',
  },
  {
    id: 'cautious-search',
    modes: ['cautious', 'sandboxed'],
    kinds: ['permission'],
    tool: /^(Glob|Grep|LS)$/,
    // Without a path these search the project folder.
    subject: (request) =>
      !namesSecret(request) &&
      request.searchedSecret === undefined &&
      request.paths.every(
        (path) => path === request.projectPath || isInsideProject(request.projectPath, path),
      ),
    verdict: 'allow',
    why: 'it searches within the project',
  },
  {
    id: 'cautious-edit',
    modes: ['cautious', 'sandboxed'],
    kinds: ['permission'],
    tool: /^(Write|Edit|MultiEdit|NotebookEdit)$/,
    subject: (request) =>
      request.paths.length > 0 &&
      everyPathInProject(request) &&
      !namesSecret(request) &&
      !canRunLater(request),
    verdict: 'allow',
    why: 'it edits a project file that nothing runs automatically',
  },
  {
    id: 'cautious-bookkeeping',
    modes: ['cautious', 'sandboxed'],
    kinds: ['permission'],
    // `Task` and `TaskStop` are missing on purpose: they start and stop work.
    tool: /^(TodoRead|TodoWrite|TaskCreate|TaskGet|TaskList|TaskUpdate|TaskOutput|BashOutput)$/,
    verdict: 'allow',
    why: 'it only changes the agent’s own notes',
  },
  {
    id: 'cautious-protected',
    modes: ['cautious', 'sandboxed'],
    kinds: ['permission'],
    tool: /^(Write|Edit|MultiEdit|NotebookEdit)$/,
    subject: canRunLater,
    verdict: 'ask',
    why: 'the file can run programs later, or change instructions or permissions',
  },
  {
    id: 'cautious-secret',
    modes: ['cautious', 'sandboxed'],
    kinds: ['permission'],
    tool: /^(Read|NotebookRead|Glob|Grep|LS|Write|Edit|MultiEdit|NotebookEdit)$/,
    subject: namesSecret,
    verdict: 'ask',
    why: ({ paths, projectPath }) =>
      paths.every((path) => path === projectPath || isInsideProject(projectPath, path))
        ? 'the file’s name suggests that it holds secrets'
        : 'the file is outside the project, and its name suggests that it holds secrets',
  },
  {
    id: 'cautious-outside',
    modes: ['cautious', 'sandboxed'],
    kinds: ['permission'],
    tool: /^(Read|NotebookRead|Glob|Grep|LS|Write|Edit|MultiEdit|NotebookEdit)$/,
    subject: (request) => request.paths.length > 0,
    verdict: 'ask',
    why: 'the file is outside the project',
  },
  {
    id: 'cautious-search-secret',
    modes: ['cautious', 'sandboxed'],
    kinds: ['permission'],
    tool: /^Grep$/,
    subject: (request) => request.searchedSecret !== undefined,
    verdict: 'ask',
    why: 'a search prints what it finds, and the folder may hold secrets',
  },
  {
    id: 'cautious-network',
    modes: ['cautious', 'sandboxed'],
    kinds: ['permission'],
    tool: /^(WebFetch|WebSearch)$/,
    verdict: 'ask',
    why: 'it accesses the network',
  },
  {
    id: 'sandbox-network',
    modes: ['sandboxed'],
    kinds: ['permission'],
    tool: /^SandboxNetworkAccess$/,
    verdict: 'deny',
    why: 'the setting sandbox_domains does not list this host',
  },
  {
    id: 'question',
    modes: ['auto', 'cautious', 'sandboxed'],
    kinds: ['question'],
    tool: /^/,
    verdict: 'ask',
    why: 'only the user can answer this question',
  },
  {
    id: 'question-as-tool',
    modes: ['auto', 'cautious', 'sandboxed'],
    kinds: ['permission'],
    tool: /^AskUserQuestion$/,
    verdict: 'ask',
    why: 'only the user can answer this question',
  },
  {
    id: 'start-prompt',
    modes: ['auto', 'cautious', 'sandboxed'],
    kinds: ['prompt'],
    tool: /^/,
    verdict: 'ask',
    why: 'it changes billing or safety settings, which only a person decides',
  },
  {
    id: 'cautious-plan',
    modes: ['cautious', 'sandboxed'],
    kinds: ['plan'],
    tool: /^/,
    verdict: 'ask',
    why: 'a person reads the plan first',
  },
  {
    id: 'cautious-trust',
    modes: ['cautious', 'sandboxed'],
    kinds: ['trust'],
    tool: /^/,
    verdict: 'ask',
    why: 'trusting a folder or its MCP servers lets the project run programs',
  },
];

function everyPathInProject(request: ApprovalRequest): boolean {
  return request.paths.every((path) => isInsideProject(request.projectPath, path));
}

function namesSecret(request: ApprovalRequest): boolean {
  return allPaths(request).some((path) => isSecret(path, request.projectPath));
}

function canRunLater(request: ApprovalRequest): boolean {
  return allPaths(request).some((path) => runsLater(path, request.projectPath));
}

/** The paths as written and with links resolved. */
function allPaths({ paths, named = [] }: ApprovalRequest): readonly string[] {
  return [...paths, ...named];
}

function namesOwnFile({ paths, ownPlaces = [] }: ApprovalRequest): boolean {
  const own = ownPlaces.map(plainPath);
  return paths
    .map(plainPath)
    .some((path) => own.some((place) => path === place || path.startsWith(`${place}/`)));
}
