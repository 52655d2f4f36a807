/** A folder of `src`, or a file directly in it. */
export interface Layer {
  readonly folder: string;
  readonly holds: string;
  /** What it may import besides itself; type imports count. */
  readonly imports: readonly string[] | 'everything';
  /** Globals that no other folder uses. */
  readonly globals?: readonly string[];
}

/**
 * The one table of layers, lowest first: a row names rows above it alone. Tests hold the code to it, and the table in
 * docs/architecture.md is made of it by `npm run docs`. A new folder needs a row here.
 */
export const layers: readonly Layer[] = [
  { folder: 'base', holds: 'errors, lifecycle, events, clock, logger, ids, JSON files', imports: [] },
  {
    folder: 'os',
    holds: 'the process table (`/proc` or `ps`), the choice of victims, signals',
    imports: ['base'],
    globals: ['process.kill'],
  },
  {
    folder: 'projects',
    holds: 'allowed roots, active project, paths; secret and live file names',
    imports: ['base'],
  },
  {
    folder: 'store',
    holds: 'state directory, journal, locks, process identity, append files',
    imports: ['projects', 'os', 'base'],
  },
  {
    folder: 'pty',
    holds: 'terminals, pipes, end mark, kill ladder, environment of children',
    imports: ['os', 'base'],
  },
  { folder: 'screen', holds: 'headless terminal, snapshots', imports: ['base'] },
  {
    folder: 'approvals',
    holds: 'rules and the pure `decide`, screen patterns',
    imports: ['projects', 'base'],
  },
  {
    folder: 'config',
    holds: 'the schema of all settings, the loader',
    imports: ['approvals', 'base'],
    globals: ['process.env'],
  },
  {
    folder: 'clients',
    holds: 'the chat clients: their settings files, their entry for this server',
    imports: ['config', 'os', 'base'],
  },
  {
    folder: 'claude',
    holds: 'everything that knows Claude Code: drivers, hooks, dialogs, streams',
    imports: ['approvals', 'screen', 'pty', 'os', 'base'],
  },
  {
    folder: 'tasks',
    holds: 'task, run, manager, recovery',
    imports: ['claude', 'approvals', 'store', 'projects', 'os', 'base'],
  },
  {
    folder: 'conversations',
    holds: 'questions and answers that branch',
    imports: ['tasks', 'claude', 'store', 'projects', 'base'],
  },
  {
    folder: 'processes',
    holds: 'any program, behind one contract: on this machine, in containers',
    imports: ['pty', 'screen', 'store', 'projects', 'os', 'base'],
  },
  {
    folder: 'keeper',
    holds: 'the process that hosts a task, or a process that is kept; its socket',
    imports: [
      'tasks',
      'claude',
      'processes',
      'approvals',
      'store',
      'pty',
      'projects',
      'config',
      'os',
      'base',
    ],
  },
  {
    folder: 'git',
    holds: 'git, run safely in any repository',
    imports: ['projects', 'os', 'base'],
  },
  {
    folder: 'files',
    holds: 'reading and writing of files; listings, trees and search',
    imports: ['git', 'projects', 'os', 'base'],
  },
  {
    folder: 'editor',
    holds:
      'VS Code: the messages of its extension, where its windows are found, and what is done in their terminals',
    imports: ['projects', 'store', 'base'],
  },
  {
    folder: 'mcp',
    holds: 'definers of tools, resources, prompts; `callTool`, budgets, server',
    imports: ['base'],
  },
  {
    folder: 'tools',
    holds: 'the tools, one file each',
    imports: [
      'mcp',
      'editor',
      'tasks',
      'conversations',
      'processes',
      'files',
      'git',
      'projects',
      'config',
      'base',
    ],
  },
  {
    folder: 'resources',
    holds: 'what clients read and follow',
    imports: ['mcp', 'tasks', 'projects', 'config', 'base'],
  },
  { folder: 'prompts', holds: 'ways in, as slash commands', imports: ['mcp', 'tasks', 'base'] },
  {
    folder: 'board',
    holds: 'the page of all tasks: its messages, its state, its server',
    imports: ['keeper', 'processes', 'git', 'tasks', 'store', 'screen', 'base'],
  },
  {
    folder: 'caller',
    holds: 'notices for the model of the client: what they say, and the messaging socket of Claude Code',
    imports: ['tasks', 'store', 'os', 'base'],
  },
  {
    folder: 'native',
    holds: 'sessions that a person started: their hooks, their records',
    imports: ['caller', 'board', 'keeper', 'tasks', 'claude', 'store', 'os', 'base'],
  },
  {
    folder: 'services',
    holds: 'composition: builds each service for the first call that needs it',
    imports: 'everything',
  },
  { folder: 'bridge.ts', holds: 'composition of one server', imports: 'everything' },
  { folder: 'board-main.ts', holds: 'the program of the board, and its composition', imports: 'everything' },
  {
    folder: 'doctor',
    holds: 'the checks of `doctor`, one file each, and their report',
    imports: ['board', 'processes', 'tasks', 'claude', 'store', 'pty', 'clients', 'config', 'os', 'base'],
  },
  {
    folder: 'cli',
    holds: 'the commands: serve, run, board, attach, tasks, native, init, doctor, explain, demo',
    imports: [
      'doctor',
      'native',
      'board',
      'resources',
      'tools',
      'mcp',
      'keeper',
      'tasks',
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
  },
  { folder: 'main.ts', holds: 'the program', imports: 'everything' },
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
    file: 'doctor/checks/docker.ts',
    imports: 'services',
    why: 'the engine is looked for where a server looks for it',
  },
  {
    file: 'keeper/main/receipt-parts.ts',
    imports: 'git',
    why: 'a part of keep-task, which composes: a receipt reads the repository by git',
  },
  {
    file: 'keeper/main/receipt-parts.ts',
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
    folders: ['caller', 'keeper', 'pty', 'store'],
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
    modules: ['dockerode', 'tar-stream'],
    folders: ['processes'],
    why: 'containers are behind one backend, loaded when first asked for',
  },
  { modules: ['@modelcontextprotocol/client*'], folders: ['cli'], why: 'only the demo is a client' },
];

/** File names that say nothing of what is inside. */
export const bannedNames =
  /^(index|utils?|helpers?|common|misc|types?)\.ts$|\.(service|tools?|types?|resource)\.ts$/;
