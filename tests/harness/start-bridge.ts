import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, onTestFinished } from 'vitest';
import { scriptedClaudeEnvironment, writeClaudeHome } from '../../src/cli/demo/claude-home.js';
import { startScriptedApi, type Script, type ScriptedApi } from '../../src/cli/demo/scripted-api.js';
import { taskRecordSchema, type TaskRecord } from '../../src/tasks/task.js';
import { connect, type Era, type McpClient, type PersonAtClient } from './mcp-clients.js';
import { writeFiles } from './project-files.js';
import { realPid } from './real-pid.js';
import { runCommand, type Ended } from './run-command.js';
import { TaskClient } from './task-client.js';
import { until } from './until.js';
import { createWorkplace, type Workplace } from './workplace.js';

/** The built command, as users run it. */
export const serverEntry = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface BridgeOptions {
  /** Program for `claude_command`, or what writes it into the workplace. */
  readonly claude: string | ((workplace: Workplace) => Promise<string>);
  readonly era?: Era;
  /** Makes the first client one that can show forms, and answers them. */
  readonly person?: PersonAtClient;
  /** What the model does; only for the real CLI. */
  readonly script?: Script;
  /** Names of the projects to make; `app` when left out. */
  readonly projects?: readonly string[];
  /** False leaves the trust dialog of the projects to be answered. */
  readonly trusted?: boolean;
  /** False for a CLI that is not logged in. */
  readonly withKey?: boolean;
  /** True for a server whose user has set no allowed roots. */
  readonly withoutRoots?: boolean;
  /** `~/.claude/settings.json` of the user. */
  readonly userSettings?: Readonly<Record<string, unknown>>;
  /** How the server is started; the built one by this Node when left out. */
  readonly command?: readonly [string, ...string[]];
  /** Folders made before, for programs that lie in them; their own when left out. */
  readonly workplace?: Workplace;
  /** Further environment of the server. */
  readonly env?: Readonly<Record<string, string>>;
}

/** What differs in another server. */
export type AnotherServer = Pick<BridgeOptions, 'command' | 'env' | 'person'> & {
  /** True for a client that shows pages. */
  readonly showsApps?: boolean;
};

export interface CommandOptions {
  /** The first project when left out. */
  readonly cwd?: string;
  readonly input?: string;
  /** In addition to that of the person; `undefined` takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Gets all that the command has said on standard error so far. */
  readonly onSaid?: (err: string) => void;
}

/** A running server of its own, in folders of its own, and a client that is connected to it. */
export interface TestBridge extends TaskClient {
  /** Starts a task with the prompt `Work.` in the first project, where nothing else is given, and gives its id. */
  start(args?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Starts a task in which the scripted agent does this, and gives its id. */
  agent(behaviour: string, more?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Waits until nothing runs but the server. */
  onlyServer(): Promise<void>;
  /** The record of a task as it is on disk. */
  record(taskId: string): Promise<TaskRecord>;
  /** Ends the keeper of a task with SIGKILL. */
  killKeeper(taskId: string): Promise<void>;
  /** Whether the first project has this file or folder now. */
  readonly has: (name: string) => boolean;
  /** Waits until the first project has it. */
  untilHas(name: string): Promise<void>;
  /** The text of a file of the first project. */
  read(name: string): Promise<string>;
  /** What the model of a task has read of its tools, in order. */
  told(): string[];
  /** Runs `claude-code-bridge` without a terminal, as the person. */
  command(words: readonly string[], options?: CommandOptions): Promise<Ended>;
  readonly workplace: Workplace;
  readonly api: ScriptedApi;
  /** The first project. */
  readonly project: string;
  readonly projects: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Makes a project that no other test has, nor the same test when it is tried once more: its name goes on with a number. */
  newProject(name: string): Promise<string>;
  /** Another server process over the same state, as another client of the same user starts it. */
  another(era?: Era, more?: AnotherServer): Promise<TaskClient>;
}

/** Closes the clients, waits until nothing runs any more unless the test failed, and removes the folders. */
type CloseBridge = (test: { readonly isFailed: boolean }) => Promise<void>;

/**
 * Starts the built server over stdio in an environment made from nothing. When the test is over everything is closed, and
 * the test fails when a process, socket or lock is left.
 */
export async function startBridge(options: BridgeOptions): Promise<TestBridge> {
  return openBridge(options, (close) =>
    onTestFinished(({ task }) => close({ isFailed: task.result?.state === 'fail' })),
  );
}

/**
 * The same for all tests of a file or suite, started before the first and closed after the last. A try of a test that failed leaves
 * what it had started, which then counts as no fault of the others.
 */
export function sharedBridge(options: BridgeOptions | (() => Promise<BridgeOptions>)): () => TestBridge {
  let bridge: TestBridge | undefined;
  let close: CloseBridge | undefined;
  beforeAll(async () => {
    const given = typeof options === 'function' ? await options() : options;
    bridge = await openBridge(given, (closing) => (close = closing));
  });
  let isFailed = false;
  afterEach(({ task }) => {
    isFailed ||= task.result?.state === 'fail';
  });
  afterAll(() => close?.({ isFailed }));
  return () => {
    if (bridge === undefined) throw new Error('the bridge is started before the first test');
    return bridge;
  };
}

async function openBridge(
  options: BridgeOptions,
  closeAtEnd: (close: CloseBridge) => void,
): Promise<TestBridge> {
  const workplace = options.workplace ?? (await createWorkplace());
  const clients: McpClient[] = [];
  const api = await startScriptedApi(options.script ?? []);
  closeAtEnd(async ({ isFailed }) => {
    try {
      for (const client of clients) {
        if (isFailed && client.log() !== '') process.stderr.write(`${client.log()}\n`);
        await client.close();
      }
      if (!isFailed) await workplace.settled();
    } finally {
      await api.dispose();
      await workplace.remove();
    }
  });
  const projects: string[] = [];
  for (const name of options.projects ?? ['app']) projects.push(await workplace.project(name));
  // The folder above them stands for those that are made later.
  const trustedProjects = options.trusted === false ? [] : [workplace.projectsDir, ...projects];
  await writeClaudeHome(workplace.homeDir, { trustedProjects });
  if (options.userSettings !== undefined)
    await writeFiles(workplace.homeDir, { '.claude/settings.json': JSON.stringify(options.userSettings) });
  const { claude } = options;
  const env: Record<string, string> = {
    ...scriptedClaudeEnvironment({
      homeDir: workplace.homeDir,
      apiUrl: api.url,
      path: workplace.env['PATH'] ?? '',
    }),
    ...workplace.env,
    MCP_CLAUDE_COMMAND: typeof claude === 'string' ? claude : await claude(workplace),
    ...options.env,
  };
  if (options.withKey === false) delete env['ANTHROPIC_API_KEY'];
  if (options.withoutRoots === true) delete env['MCP_ALLOWED_ROOTS'];

  const open = async (era: Era, { person, ...more }: AnotherServer): Promise<McpClient> => {
    const [command, ...args] = more.command ?? options.command ?? [process.execPath, serverEntry];
    const server = { command, args, cwd: workplace.root, env: { ...env, ...more.env } };
    const client = await connect(era, server, person, more.showsApps);
    clients.push(client);
    return client;
  };
  const first = new TaskClient(
    await open(options.era ?? 'modern', { ...(options.person && { person: options.person }) }),
  );
  const project = projects[0] ?? '';
  const startFirst = first.start.bind(first);
  // A task that goes on from another one may have the folder of that.
  const start = (args: Readonly<Record<string, unknown>> = {}) =>
    startFirst({ prompt: 'Work.', ...('continue_from' in args ? {} : { path: project }), ...args });
  const record = async (taskId: string): Promise<TaskRecord> => {
    const file = join(workplace.stateDir, 'tasks', taskId, 'record.json');
    return taskRecordSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  };
  const has = (name: string): boolean => existsSync(join(project, name));
  let made = 0;
  return Object.assign(first, {
    workplace,
    api,
    project,
    projects,
    env,
    start,
    agent: (behaviour: string, more: Readonly<Record<string, unknown>> = {}) =>
      start({ prompt: `AGENT: ${behaviour}`, ...more }),
    onlyServer: () =>
      until('nothing runs but the server', async () =>
        expect(await workplace.processes()).toEqual([first.mcp.pid]),
      ),
    record,
    killKeeper: async (taskId: string) => {
      process.kill(realPid((await record(taskId)).keeper?.pid), 'SIGKILL');
    },
    has,
    untilHas: async (name: string) => void (await until(`${name} is there`, () => has(name))),
    read: (name: string) => readFile(join(project, name), 'utf8'),
    told: () => api.requests.flatMap(({ toolResults }) => toolResults.map((result) => result.text)),
    command: (words: readonly string[], { cwd = project, env: more, ...rest }: CommandOptions = {}) =>
      runCommand(words, { ...rest, cwd, env: { ...env, ...more } }),
    newProject: (name: string) => workplace.project(`${name}-${++made}`),
    another: async (era: Era = 'modern', more: AnotherServer = {}) => new TaskClient(await open(era, more)),
  });
}
