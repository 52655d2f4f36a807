import { runsLater } from '../projects/live-names.js';
import { plainPath } from '../projects/name-list.js';
import { isSecret } from '../projects/secret-names.js';
import type { ApprovalRequest, Rule } from './decide.js';
import { isInsideProject } from './project-paths.js';

/** The rule that denies edits of the bridge's own settings and state. */
export const OWN_FILES = 'own-files';

/** The rules that hold when the user has set none. Order within a verdict is the order of trial. */
export const defaultRules: readonly Rule[] = [
  {
    id: OWN_FILES,
    modes: ['auto', 'cautious', 'sandboxed'],
    kinds: ['permission'],
    tool: /^(Write|Edit|MultiEdit|NotebookEdit)$/,
    subject: namesOwn,
    verdict: 'deny',
    why: 'it is of the settings or the state of the bridge itself, which no session edits',
  },
  {
    id: 'auto-permission',
    modes: ['auto'],
    kinds: ['permission'],
    // A question that comes as a tool call stays a question.
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
    why: 'mode auto lets a finished plan be carried out',
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
    why: 'mode auto uses the MCP servers that the project names',
  },
  {
    id: 'cautious-read',
    modes: ['cautious', 'sandboxed'],
    kinds: ['permission'],
    tool: /^(Read|NotebookRead)$/,
    subject: (request) => request.paths.length > 0 && everyPathInProject(request) && !namesSecret(request),
    verdict: 'allow',
    why: 'it reads a file of the project',
  },
  {
    id: 'cautious-search',
    modes: ['cautious', 'sandboxed'],
    kinds: ['permission'],
    tool: /^(Glob|Grep|LS)$/,
    // Without a path these search the project's own folder.
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
      request.paths.length > 0 && everyPathInProject(request) && !namesSecret(request) && !namesLive(request),
    verdict: 'allow',
    why: 'it edits a file of the project that nothing runs by itself',
  },
  {
    id: 'cautious-bookkeeping',
    modes: ['cautious', 'sandboxed'],
    kinds: ['permission'],
    // `Task` itself and `TaskStop` are not here: they start and stop work.
    tool: /^(TodoRead|TodoWrite|TaskCreate|TaskGet|TaskList|TaskUpdate|TaskOutput|BashOutput)$/,
    verdict: 'allow',
    why: 'it keeps the agent’s own notes and touches nothing else',
  },
  {
    id: 'cautious-protected',
    modes: ['cautious', 'sandboxed'],
    kinds: ['permission'],
    tool: /^(Write|Edit|MultiEdit|NotebookEdit)$/,
    subject: namesLive,
    verdict: 'ask',
    why: 'what is written there can run later, or instruct or allow something',
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
        ? 'by its name the file holds secrets'
        : 'the file is not one of the project, and by its name it may hold secrets',
  },
  {
    id: 'cautious-outside',
    modes: ['cautious', 'sandboxed'],
    kinds: ['permission'],
    tool: /^(Read|NotebookRead|Glob|Grep|LS|Write|Edit|MultiEdit|NotebookEdit)$/,
    subject: (request) => request.paths.length > 0,
    verdict: 'ask',
    why: 'the file is not one of the project',
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
    why: 'it reaches other machines',
  },
  {
    id: 'sandbox-network',
    modes: ['sandboxed'],
    kinds: ['permission'],
    tool: /^SandboxNetworkAccess$/,
    verdict: 'deny',
    why: 'the setting sandbox_domains does not name this host',
  },
  {
    id: 'question',
    modes: ['auto', 'cautious', 'sandboxed'],
    kinds: ['question'],
    tool: /^/,
    verdict: 'ask',
    why: 'a question to the user has no answer that could be guessed',
  },
  {
    id: 'question-as-tool',
    modes: ['auto', 'cautious', 'sandboxed'],
    kinds: ['permission'],
    tool: /^AskUserQuestion$/,
    verdict: 'ask',
    why: 'a question to the user has no answer that could be guessed',
  },
  {
    id: 'start-prompt',
    modes: ['auto', 'cautious', 'sandboxed'],
    kinds: ['prompt'],
    tool: /^/,
    verdict: 'ask',
    why: 'it changes how the session is paid for or guarded, which is the person’s to say',
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
  return everyName(request).some((path) => isSecret(path, request.projectPath));
}

function namesLive(request: ApprovalRequest): boolean {
  return everyName(request).some((path) => runsLater(path, request.projectPath));
}

/** A name counts as what it says, and as what it leads to. */
function everyName({ paths, named = [] }: ApprovalRequest): readonly string[] {
  return [...paths, ...named];
}

function namesOwn({ paths, ownPlaces = [] }: ApprovalRequest): boolean {
  const own = ownPlaces.map(plainPath);
  return paths
    .map(plainPath)
    .some((path) => own.some((place) => path === place || path.startsWith(`${place}/`)));
}
