import { mkdir, realpath, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { messageOf } from '../../base/errors.js';
import { makeTempFolder } from '../../base/files/temp-folder.js';
import { tailChars } from '../../base/text/text.js';
import { exitCodes } from '../exit-codes.js';
import { scriptedClaudeEnvironment, writeClaudeHome } from './claude-home.js';
import { createDemoProject, DEMO_PROMPT, demoScript, readDiff } from './demo-project.js';
import { DemoReport } from './demo-report.js';
import { findOrFetchClaude, PINNED_VERSION } from './fetch-claude.js';
import {
  endTasks,
  followTask,
  readReceipt,
  readTaskOutput,
  startTask,
  structuredContentOf,
} from './follow-task.js';
import { findOnPath } from '../../os/find-on-path.js';
import { startScriptedApi, type ScriptedApi } from './scripted-api.js';

/** Enough of the server's log to see why it failed. */
const LOG_CHARS = 4_000;
/** The whole demo takes some ten seconds; a task that takes longer has failed. */
const TASK_LIMIT_SECONDS = 120;

export interface DemoOptions {
  readonly io: { write(text: string): void };
  /** Path of the built `main.js`. */
  readonly serverEntry: string;
  /** The person's environment: for PATH, HOME and npm; none of it reaches the server or Claude Code but PATH. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A `claude` to use instead of the one on PATH. */
  readonly claude?: string;
  /** The cache of fetched versions; see `demoCacheDir`. */
  readonly cacheDir: string;
  readonly signal?: AbortSignal;
}

/** `$XDG_CACHE_HOME/claude-code-bridge/claude`, else below `~/.cache`. */
export function demoCacheDir(env: Readonly<Record<string, string | undefined>>): string {
  const cacheHome = env['XDG_CACHE_HOME'];
  const base = cacheHome?.startsWith('/') ? cacheHome : join(env['HOME'] ?? homedir(), '.cache');
  return join(base, 'claude-code-bridge', 'claude');
}

/**
 * Delegates a task to the real CLI through the built server, with a scripted model instead of the service, and shows
 * it. Resolves with the exit code: 0 only when the file was really changed. Leaves nothing behind but a fetched CLI.
 */
export async function runDemo(options: DemoOptions): Promise<number> {
  const report = new DemoReport(options.io);
  report.begin();
  const folder = await realpath(await makeTempFolder('claude-code-bridge-demo-'));
  try {
    return await runIn(folder, options, report);
  } catch (error) {
    const isInterrupted = options.signal?.aborted === true;
    report.line(isInterrupted ? '\nYou ended the demo.' : `\nThe demo failed: ${messageOf(error)}`);
    return isInterrupted ? exitCodes.interrupted : exitCodes.failed;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    report.cleanedUp(folder);
  }
}

async function runIn(folder: string, options: DemoOptions, report: DemoReport): Promise<number> {
  const { env, signal } = options;
  const claude = await findClaude(options, report);
  // The server's and the model's `node` is the one that runs the demo.
  const path = [dirname(process.execPath), env['PATH'] ?? '/usr/bin:/bin'].join(delimiter);
  const project = join(folder, 'shop-math');
  const homeDir = join(folder, 'home');
  await mkdir(homeDir);
  await createDemoProject(project, path, signal);
  await writeClaudeHome(homeDir);
  report.ready({ claude, project });

  let log = '';
  let api: ScriptedApi | undefined;
  let server: DemoServer | undefined;
  const startServer = (apiUrl: string): Promise<DemoServer> => {
    const serverEnv = {
      ...scriptedClaudeEnvironment({ homeDir, apiUrl, path }),
      MCP_ALLOWED_ROOTS: folder,
      MCP_STATE_DIR: join(folder, 'state'),
      MCP_CLAUDE_COMMAND: claude,
    };
    return startDemoServer(options.serverEntry, folder, serverEnv, (text) => {
      log = tailChars(log + text, LOG_CHARS);
    });
  };
  try {
    api = await startScriptedApi(demoScript(project));
    server = await startServer(api.url);
    return await delegate(server, project, path, report, signal);
  } catch (error) {
    if (log !== '' && signal?.aborted !== true) report.serverLog(log);
    await server?.close();
    // A task outlives its server by design, and Ctrl-C in a terminal ends the server too: another one ends the tasks.
    if (api !== undefined) server = await startServer(api.url);
    if (server !== undefined) await endTasks(server.call);
    throw error;
  } finally {
    await server?.close();
    await api?.dispose();
  }
}

async function delegate(
  { call }: DemoServer,
  project: string,
  path: string,
  report: DemoReport,
  signal: AbortSignal | undefined,
): Promise<number> {
  report.starting(DEMO_PROMPT);
  const taskId = await startTask(call, {
    prompt: DEMO_PROMPT,
    path: project,
    permission_mode: 'cautious',
    timeout_seconds: TASK_LIMIT_SECONDS,
  });
  report.started(taskId);
  const end = await followTask(
    call,
    taskId,
    {
      onChange: (task) => report.status(task),
      decide: async (decision) => {
        report.decision(decision);
        return {
          verdict: 'allow',
          message: decision.kind === 'trust' ? 'our own project' : 'what was asked for',
        };
      },
    },
    signal,
  );
  report.decisions(await readTaskOutput(call, taskId, 'events'));
  const diff = await readDiff(project, path);
  report.end(end);
  report.receipt(await readReceipt(call, taskId));
  report.diff(diff);
  return end.status === 'completed' && diff !== '' ? 0 : 1;
}

async function findClaude(options: DemoOptions, report: DemoReport): Promise<string> {
  if (options.claude !== undefined) return realpath(options.claude);
  const found = await findOnPath('claude', options.env['PATH']);
  if (found !== undefined) return found;
  return findOrFetchClaude({
    version: PINNED_VERSION,
    cacheDir: options.cacheDir,
    env: options.env,
    log: (line) => report.line(line),
    ...(options.signal && { signal: options.signal }),
  });
}

/** The built server as a child process, spoken to over stdio as an MCP client does; `close` closes its input, which ends it. */
type DemoServer = Awaited<ReturnType<typeof startDemoServer>>;

/** Starts the built `main.js` with this as its whole environment. `onLog` gets what it says on stderr. */
async function startDemoServer(
  serverEntry: string,
  cwd: string,
  env: Record<string, string>,
  onLog: (text: string) => void,
) {
  const [command, args] = [process.execPath, [serverEntry]];
  const transport = new StdioClientTransport({ command, args, cwd, env, stderr: 'pipe' });
  transport.stderr?.on('data', (chunk: Buffer) => onLog(chunk.toString('utf8')));
  const client = new Client({ name: 'claude-code-bridge-demo', version: '1.0.0' });
  await client.connect(transport);
  return {
    call: async (tool: string, args: Readonly<Record<string, unknown>>) =>
      structuredContentOf(tool, await client.callTool({ name: tool, arguments: { ...args } })),
    close: () => client.close(),
  };
}
