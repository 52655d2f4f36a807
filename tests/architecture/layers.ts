/** What a folder of `src` may import besides itself, lowest layer first. A new folder needs a row here. */
export const layers: Readonly<Record<string, readonly string[]>> = {
  base: [],
  os: ['base'],
  config: ['base'],
  projects: ['base'],
  store: ['os', 'base'],
  pty: ['os', 'base'],
  screen: ['base'],
  approvals: ['projects', 'base'],
  claude: ['approvals', 'screen', 'pty', 'os', 'base'],
  tasks: ['claude', 'approvals', 'store', 'projects', 'os', 'base'],
  conversations: ['tasks', 'claude', 'store', 'projects', 'base'],
  processes: ['pty', 'screen', 'store', 'projects', 'os', 'base'],
  keeper: ['tasks', 'claude', 'processes', 'approvals', 'store', 'pty', 'projects', 'config', 'os', 'base'],
  files: ['projects', 'os', 'base'],
  git: ['projects', 'os', 'base'],
  mcp: ['base'],
  tools: ['mcp', 'tasks', 'conversations', 'processes', 'files', 'git', 'projects', 'config', 'base'],
  resources: ['mcp', 'tasks', 'projects', 'config', 'base'],
  prompts: ['mcp', 'tasks', 'base'],
  cli: [
    'resources',
    'tools',
    'mcp',
    'keeper',
    'tasks',
    'claude',
    'approvals',
    'screen',
    'pty',
    'store',
    'projects',
    'config',
    'os',
    'base',
  ],
};

/** Files of `src` itself, and the folder of what they load late: they compose, and may import everything. */
export const composition: readonly string[] = ['bridge.ts', 'services', 'main.ts'];

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
    file: 'cli/tasks.ts',
    imports: 'services',
    why: 'tasks are looked at through the same services as a server’s',
  },
  {
    file: 'keeper/receipt-parts.ts',
    imports: 'git',
    why: 'a part of keep-task, which composes: what tasks know as a looker is git',
  },
  {
    file: 'keeper/receipt-parts.ts',
    imports: 'projects',
    why: 'git looks at a repository inside the allowed roots alone',
  },
  {
    file: 'keeper/await-task.ts',
    imports: 'screen',
    why: 'a spare keeper makes an emulator once before it has a task, so that its first one need not wait for that',
  },
];

/** Modules of which one folder is the only importer. */
export const soleImporters: readonly {
  readonly module: RegExp;
  readonly folders: readonly string[];
  readonly why: string;
}[] = [
  {
    module: /^(@lydell\/)?node-pty$/,
    folders: ['pty'],
    why: 'a native module: one place decides which of the two is loaded',
  },
  { module: /^@xterm\//, folders: ['screen'], why: 'one terminal emulator, behind one class' },
  {
    module: /^node:net$/,
    folders: ['keeper', 'processes', 'store'],
    why: 'one protocol between server and keeper; pipes are read by its sockets, without a thread each; and whether an owner in another pid namespace listens is asked there',
  },
  {
    module: /^@modelcontextprotocol\/(server|core|sdk)(\/|$)/,
    folders: ['mcp'],
    why: 'tools know nothing of the protocol',
  },
  {
    module: /^(dockerode|tar-stream)$/,
    folders: ['processes'],
    why: 'containers are behind one backend, loaded when first asked for',
  },
  { module: /^@modelcontextprotocol\/client(\/|$)/, folders: ['cli'], why: 'only the demo is a client' },
];

/** File names that say nothing of what is inside. */
export const bannedNames =
  /^(index|utils?|helpers?|common|misc|types?)\.ts$|\.(service|tools?|types?|resource)\.ts$/;
