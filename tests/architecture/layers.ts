/** A folder of `src`, or a file directly in it. */
export interface Layer {
  readonly folder: string;
  readonly holds: string;
  /** What it may import besides itself; type imports count. */
  readonly imports: readonly string[] | 'everything';
  /** Globals that no other folder uses. */
  readonly globals?: readonly string[];
  /** The modules that tests may import, beside pure ones: paths in the folder, without `.ts`. */
  readonly entries: readonly string[];
  /** Lines of code that it has at most, blank and comment lines counted. It may only fall. */
  readonly ceiling: number;
}

/** A folder beside `src`. */
export interface Area {
  readonly folder: string;
  readonly holds: string;
  /** The folders of `src` that it may import besides itself. */
  readonly imports: readonly string[] | 'everything';
  readonly entries: readonly string[];
  readonly ceiling: number;
}

/** False while work runs that moves lines between the folders of `src`: then the sum alone is held. */
export const FOLDERS_COUNT = true;

/**
 * The one table of layers, lowest first: a row names rows above it alone. Tests hold the code to it, and the table in
 * docs/architecture.md is made of it by `npm run docs`. A new folder needs a row here.
 */
export const layers: readonly Layer[] = [
  {
    folder: 'base',
    holds: 'errors, lifecycle, events, clock, logger, ids, JSON files',
    imports: [],
    entries: ['files/json-file', 'logger', 'system-clock'],
    ceiling: 1385,
  },
  {
    folder: 'os',
    holds: 'the process table (`/proc` or `ps`), the choice of victims, signals',
    imports: ['base'],
    globals: ['process.kill'],
    entries: ['process-system', 'ps-source', 'find-ripgrep', 'proc-source', 'run-program', 'send-signals'],
    ceiling: 962,
  },
  {
    folder: 'projects',
    holds: 'allowed roots, active project, paths; secret and live file names',
    imports: ['base'],
    entries: ['allowed-roots', 'path-opener'],
    ceiling: 1005,
  },
  {
    folder: 'git',
    holds: 'git, run safely in any repository',
    imports: ['projects', 'os', 'base'],
    entries: [
      'git-service',
      'run/run-git',
      'worktree/worktrees',
      'state/project-snapshots',
      'state/undo-changes',
    ],
    ceiling: 3659,
  },
  {
    folder: 'store',
    holds: 'state directory, journal, locks, process identity, append files',
    imports: ['projects', 'os', 'base'],
    entries: [
      'state-dir',
      'machine',
      'process-identity',
      'project-lock',
      'requests',
      'runtime-dir',
      'journal',
      'journal-reader',
      'pages',
    ],
    ceiling: 2567,
  },
  {
    folder: 'pty',
    holds: 'terminals, pipes, end mark, kill ladder, environment of children',
    imports: ['os', 'base'],
    entries: ['pty-manager', 'kill-ladder'],
    ceiling: 1014,
  },
  {
    folder: 'screen',
    holds: 'headless terminal, snapshots',
    imports: ['base'],
    entries: ['screen'],
    ceiling: 716,
  },
  {
    folder: 'approvals',
    holds: 'rules and the pure `decide`, screen patterns',
    imports: ['projects', 'base'],
    entries: ['sandbox-paths'],
    ceiling: 1133,
  },
  {
    folder: 'checks',
    holds: 'briefs and checks: what runs them, and what they found',
    imports: ['git', 'pty', 'projects', 'os', 'base'],
    entries: ['verify', 'check-runner', 'run-command', 'sandboxed-lines'],
    ceiling: 827,
  },
  {
    folder: 'config',
    holds: 'the schema of all settings, the loader',
    imports: ['checks', 'approvals', 'base'],
    globals: ['process.env'],
    entries: ['load-config', 'schema'],
    ceiling: 1595,
  },
  {
    folder: 'clients',
    holds: 'the chat clients: their settings files, their entry for this server',
    imports: ['config', 'os', 'base'],
    entries: [],
    ceiling: 491,
  },
  {
    folder: 'claude',
    holds: 'everything that knows Claude Code: drivers, hooks, dialogs, streams',
    imports: ['approvals', 'screen', 'pty', 'os', 'base'],
    entries: [
      'interactive/interactive-driver',
      'interactive/hook-session',
      'print/print-driver',
      'program/program-driver',
      'hooks/hooks-server',
    ],
    ceiling: 6155,
  },
  {
    folder: 'tasks',
    holds: 'task, run, manager, recovery',
    imports: ['checks', 'claude', 'approvals', 'store', 'git', 'projects', 'os', 'base'],
    entries: [
      'task-manager',
      'task-finisher',
      'budget/day-spending',
      'record/record-writer',
      'record/recovery',
      'watch/task-watches',
      'own-session',
    ],
    ceiling: 7914,
  },
  {
    folder: 'conversations',
    holds: 'questions and answers that branch',
    imports: ['tasks', 'claude', 'store', 'projects', 'base'],
    entries: [],
    ceiling: 180,
  },
  {
    folder: 'processes',
    holds: 'any program, behind one contract: on this machine, in containers',
    imports: ['pty', 'screen', 'store', 'projects', 'os', 'base'],
    entries: [
      'process-service',
      'process-store',
      'process-manager',
      'host/host-backend',
      'host/host-process',
      'docker/docker-backend',
      'docker/leftovers',
      'docker/engine',
      'docker/task-container',
      'docker/container-copies',
      'docker/unpack-tree',
    ],
    ceiling: 4059,
  },
  {
    folder: 'keeper',
    holds: 'the process that hosts a task, or a process with `keep`; its socket',
    imports: [
      'tasks',
      'claude',
      'processes',
      'checks',
      'approvals',
      'store',
      'git',
      'pty',
      'projects',
      'config',
      'os',
      'base',
    ],
    entries: [
      'agent/recognise-program',
      'host/keeper-client',
      'host/keeper-host',
      'main/keeper-server',
      'main/keep-task',
      'main/task-files',
      'main/task-judge',
      'host/sweeper',
      'notices/open-notices',
      'agent/project-settings',
    ],
    ceiling: 4407,
  },
  {
    folder: 'files',
    holds: 'reading and writing of files; listings, trees and search',
    imports: ['git', 'projects', 'os', 'base'],
    entries: ['filesystem-service', 'project-explorer'],
    ceiling: 2289,
  },
  {
    folder: 'editor',
    holds:
      'VS Code: the messages of its extension, where its windows are found, and what is done in their terminals',
    imports: ['projects', 'store', 'base'],
    entries: ['discovery', 'editor-terminals'],
    ceiling: 1388,
  },
  {
    folder: 'mcp',
    holds: 'definers of tools, resources, prompts; `callTool`, budgets, server',
    imports: ['base'],
    entries: ['server', 'serve-tools', 'stdio'],
    ceiling: 2095,
  },
  {
    folder: 'machines',
    holds: 'other machines: the line to each, what both ends say, and tasks there as they are seen here',
    imports: ['keeper', 'mcp', 'tasks', 'checks', 'config', 'approvals', 'store', 'pty', 'os', 'base'],
    entries: ['machines', 'wire', 'machine-tasks', 'far-tools'],
    ceiling: 3062,
  },
  {
    folder: 'board',
    holds: 'the page of all tasks: its messages, its state, its server',
    imports: ['machines', 'keeper', 'processes', 'screen', 'git', 'tasks', 'checks', 'store', 'os', 'base'],
    entries: ['board', 'chat-board', 'door', 'reviews'],
    ceiling: 3606,
  },
  {
    folder: 'native',
    holds: 'sessions that a person started: their hooks, their records',
    imports: ['keeper', 'tasks', 'claude', 'store', 'projects', 'os', 'base'],
    entries: ['native-session', 'native-host', 'session-inbox'],
    ceiling: 1026,
  },
  {
    folder: 'tools',
    holds: 'the tools, a file for each subject',
    imports: [
      'mcp',
      'native',
      'board',
      'editor',
      'tasks',
      'conversations',
      'processes',
      'files',
      'git',
      'checks',
      'projects',
      'config',
      'base',
    ],
    entries: ['registry', 'tasks/ask-person'],
    ceiling: 3369,
  },
  {
    folder: 'resources',
    holds: 'what clients read and follow',
    imports: ['mcp', 'tasks', 'projects', 'config', 'base'],
    entries: ['registry'],
    ceiling: 289,
  },
  {
    folder: 'prompts',
    holds: 'ways in, as slash commands',
    imports: ['mcp', 'tasks', 'base'],
    entries: [],
    ceiling: 347,
  },
  {
    folder: 'services',
    holds: 'composition: builds each service for the first call that needs it',
    imports: 'everything',
    entries: ['server-services', 'always-rules', 'git-services'],
    ceiling: 1207,
  },
  {
    folder: 'bridge.ts',
    holds: 'composition of one server',
    imports: 'everything',
    entries: [],
    ceiling: 132,
  },
  {
    folder: 'board-main.ts',
    holds: 'the program of the board, and its composition',
    imports: 'everything',
    entries: [],
    ceiling: 151,
  },
  {
    folder: 'doctor',
    holds: 'the checks of `doctor`, one file a category, and their report',
    imports: ['board', 'processes', 'tasks', 'claude', 'store', 'pty', 'clients', 'config', 'os', 'base'],
    entries: ['all-checks', 'run-checks', 'make-context'],
    ceiling: 1085,
  },
  {
    folder: 'cli',
    holds: 'the commands: serve, run, board, attach, tasks, machines, native, init, doctor, demo',
    imports: [
      'doctor',
      'native',
      'board',
      'resources',
      'tools',
      'machines',
      'mcp',
      'keeper',
      'tasks',
      'checks',
      'claude',
      'clients',
      'approvals',
      'screen',
      'pty',
      'store',
      'projects',
      'config',
      'os',
      'base',
    ],
    entries: [
      'board',
      'demo/scripted-api',
      'demo/claude-home',
      'demo/fetch-claude',
      'demo/demo-project',
      'init/init',
      'machines/machine-commands',
      'rules-contract',
      'standard-output',
      'trust',
    ],
    ceiling: 6468,
  },
  { folder: 'main.ts', holds: 'the program', imports: 'everything', entries: [], ceiling: 25 },
];

/** Polls, sleeps and time limits of their own that are left in tests: see tests/suppressions.json. It may only fall. */
export const OWN_WAITS = 279;

/** What lies beside `src`. */
export const areas: readonly Area[] = [
  {
    folder: 'web',
    holds: 'the page of the board, in browsers, chats and editors',
    imports: ['board', 'screen', 'base'],
    entries: [],
    ceiling: 5408,
  },
  {
    folder: 'vscode',
    holds: 'the extension for VS Code',
    imports: ['board', 'editor', 'store', 'screen', 'config', 'base'],
    entries: [
      'src/board/board-connection',
      'src/board/board-socket',
      'src/connection/bridge-server',
      'src/terminals/terminal-registry',
      'src/tasks/view/page-link',
      'src/board/bridge-command',
    ],
    ceiling: 3891,
  },
  {
    folder: 'scripts',
    holds: 'builds, generated pages, releases, the check itself',
    imports: 'everything',
    entries: [],
    ceiling: 1874,
  },
  { folder: 'bench', holds: 'benchmarks', imports: 'everything', entries: [], ceiling: 1153 },
  {
    folder: 'tests',
    holds: 'tests, their harness and fixtures in code',
    imports: 'everything',
    entries: [],
    ceiling: 53655,
  },
];

/** Imports that a row does not allow, each with its reason. */
export const exceptions: readonly {
  readonly file: string;
  readonly imports: string;
  readonly why: string;
}[] = [
  {
    file: 'cli/serve.ts',
    imports: 'bridge.ts',
    why: 'the command that serves is where the composition is started',
  },
  {
    file: 'cli/open-tasks.ts',
    imports: 'services',
    why: 'the commands reach tasks through the same services as a server',
  },
  {
    file: 'doctor/checks/optional.ts',
    imports: 'services',
    why: 'the engine is looked for where a server looks for it',
  },
  {
    file: 'keeper/main/keep-task.ts',
    imports: 'git',
    why: 'a part of keep-task, which composes: a receipt reads the repository by git',
  },
  {
    file: 'keeper/main/keep-task.ts',
    imports: 'projects',
    why: 'git reads a repository inside the allowed roots alone',
  },
];

/** Modules that only some folders import. A `*` at the end stands for any name. */
export const soleImporters: readonly {
  readonly modules: readonly string[];
  readonly folders: readonly string[];
  readonly why: string;
}[] = [
  {
    modules: ['@lydell/node-pty', 'node-pty'],
    folders: ['pty'],
    why: 'a native module: one place decides which of the two is loaded',
  },
  { modules: ['@xterm/*'], folders: ['screen'], why: 'one terminal emulator, behind one class' },
  {
    modules: ['node:net'],
    folders: ['keeper', 'native', 'pty', 'store'],
    why: 'one protocol between server and keeper; the pipes of children are read by its sockets, without a thread each; whether an owner in another pid namespace listens is asked there; and one of Claude Code’s own sockets takes messages',
  },
  {
    modules: ['@modelcontextprotocol/server*', '@modelcontextprotocol/core*', '@modelcontextprotocol/sdk*'],
    folders: ['mcp'],
    why: 'tools know nothing of the protocol',
  },
  {
    modules: ['ws'],
    folders: ['board', 'editor'],
    why: 'pages, and windows of the editor, are reached by one kind of connection',
  },
  {
    modules: ['dockerode'],
    folders: ['processes'],
    why: 'containers are behind one backend, loaded when first asked for',
  },
  {
    modules: ['tar-stream'],
    folders: ['processes', 'cli'],
    why: 'archives in and out of containers, and of this package for another machine',
  },
  { modules: ['@modelcontextprotocol/client*'], folders: ['cli'], why: 'only the demo is a client' },
];

/** File names that say nothing of what is inside. */
export const bannedNames =
  /^(index|utils?|helpers?|common|misc|types?)\.ts$|\.(service|tools?|types?|resource)\.ts$/;
