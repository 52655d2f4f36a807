import { mkdir, realpath, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { z } from 'zod';
import { messageOf } from '../../base/errors.js';
import { makeTempFolder } from '../../base/files/folders.js';
import { oneLine, tailChars } from '../../base/text.js';
import { findOnPath } from '../../os/find-on-path.js';
import { isFinal, taskStatusSchema } from '../../tasks/task.js';
import { exitCodes } from '../exit-codes.js';
import { commandText } from '../receipt-text.js';
import { scriptedClaudeEnvironment, writeClaudeHome } from './claude-home.js';
import { createDemoProject, DEMO_PROMPT, demoScript, readDiff } from './demo-project.js';
import { findOrFetchClaude, PINNED_VERSION } from './fetch-claude.js';
import { startScriptedApi, type ScriptedApi } from './scripted-api.js';

/** Enough of the server's log to see why it failed. */
const LOG_CHARS = 4_000;
const LINE_CHARS = 110;
/** The whole demo takes some ten seconds; a task that takes longer has failed. */
const TASK_LIMIT_SECONDS = 120;
/** Short, so that the activity between two changes of status is seen as well. */
const WAIT_SECONDS = 2;

export interface DemoOptions {
  readonly write: (text: string) => void;
  /** Path of the built `main.js`. */
  readonly serverEntry: string;
  /** The person's environment: for PATH, HOME and npm; none of it reaches the server or Claude Code but PATH. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A `claude` to use instead of the one on PATH. */
  readonly claude?: string;
  readonly signal: AbortSignal;
}

/** Where the demo runs, and what it says. */
interface Stage {
  readonly project: string;
  readonly path: string;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  /** A line with the seconds since the start. */
  readonly timed: (text: string) => void;
}

/** Calls a tool over MCP and gives its `structuredContent`; rejects when the answer is an error. */
type ToolCaller = (tool: string, args: Readonly<Record<string, unknown>>) => Promise<unknown>;

const answerSchema = z.object({
  isError: z.boolean().default(false),
  structuredContent: z.unknown(),
  content: z.array(z.looseObject({ text: z.string().default('') })).default([]),
});
const startedSchema = z.object({ task_id: z.string() });
const seenSchema = z.object({
  task_id: z.string(),
  status: taskStatusSchema,
  activity: z.string().nullish(),
  reason: z.string().nullish(),
  last_output: z.string().nullish(),
  decisions: z
    .array(z.object({ decision_id: z.string(), kind: z.string(), summary: z.string() }))
    .default([]),
});
type SeenTask = z.infer<typeof seenSchema>;
const waitedSchema = z.object({ tasks: z.tuple([seenSchema]), cursor: z.unknown() });
const listedSchema = z.object({ tasks: z.array(seenSchema) });
const receiptSchema = z.object({
  receipt: z.object({
    commands: z.array(
      z.object({ command: z.string(), exit_code: z.int().nullable(), note: z.string().optional() }),
    ),
    git: z.object({
      files: z
        .array(z.object({ path: z.string(), insertions: z.int().default(0), deletions: z.int().default(0) }))
        .default([]),
    }),
  }),
});

/**
 * Delegates a task to the real CLI through the built server, with a scripted model instead of the service, and shows
 * it. Resolves with the exit code: 0 only when the file was really changed. Leaves nothing behind but a fetched CLI.
 */
export async function runDemo(options: DemoOptions): Promise<number> {
  const startedMs = performance.now();
  const seconds = (): string => ((performance.now() - startedMs) / 1000).toFixed(1);
  const say = (line: string): void => options.write(`${line}\n`);
  say('A task for Claude Code through claude-code-bridge. The CLI, its tools and the project are real;');
  say('only the model is scripted, so no account is needed.\n');
  const folder = await realpath(await makeTempFolder('claude-code-bridge-demo-'));
  const project = join(folder, 'shop-math');
  // The server's and the model's `node` is the one that runs the demo.
  const path = [dirname(process.execPath), options.env['PATH'] ?? '/usr/bin:/bin'].join(delimiter);
  const near = (text: string): string => oneLine(text.replaceAll(`${project}/`, ''), LINE_CHARS);
  const timed = (text: string): void => say(near(`  ${seconds().padStart(6)} s  ${text}`.trimEnd()));
  try {
    return await runIn(folder, options, { project, path, say, timed, signal: options.signal });
  } catch (error) {
    const isInterrupted = options.signal.aborted;
    say(isInterrupted ? '\nYou ended the demo.' : `\nThe demo failed: ${messageOf(error)}`);
    return isInterrupted ? exitCodes.interrupted : exitCodes.failed;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    say(`\nServer stopped, ${folder} removed. ${seconds()} s in all.`);
  }
}

async function runIn(folder: string, options: DemoOptions, stage: Stage): Promise<number> {
  const { project, path, say, signal } = stage;
  const claude = await findClaude(options, say);
  const homeDir = join(folder, 'home');
  await mkdir(homeDir);
  await createDemoProject(project, path, signal);
  await writeClaudeHome(homeDir);
  say(`Claude Code  ${claude}`);
  say(`Project      ${project} (a git repository whose test fails)`);

  let log = '';
  let api: ScriptedApi | undefined;
  let server: DemoServer | undefined;
  const startServer = (apiUrl: string): Promise<DemoServer> => {
    const env = {
      ...scriptedClaudeEnvironment({ homeDir, apiUrl, path }),
      MCP_ALLOWED_ROOTS: folder,
      MCP_STATE_DIR: join(folder, 'state'),
      MCP_CLAUDE_COMMAND: JSON.stringify([claude]),
    };
    return startDemoServer(options.serverEntry, folder, env, (text) => {
      log = tailChars(log + text, LOG_CHARS);
    });
  };
  try {
    api = await startScriptedApi(demoScript(project));
    server = await startServer(api.url);
    return await delegate(server.call, stage);
  } catch (error) {
    if (log !== '' && !signal.aborted) say(`\nThe server said on stderr:\n${indented(log.trimEnd())}`);
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

/** Starts the task, allows what it asks, and shows what it did, as the bridge hands it back. */
async function delegate(call: ToolCaller, { project, path, signal, say, timed }: Stage): Promise<number> {
  say(`\n> start_task    "${DEMO_PROMPT}"`);
  const { task_id } = startedSchema.parse(
    await call('start_task', {
      prompt: DEMO_PROMPT,
      path: project,
      permission_mode: 'cautious',
      timeout_seconds: TASK_LIMIT_SECONDS,
    }),
  );
  say(`                ${task_id}, permission mode cautious\n> wait_for_task`);
  let shown = '';
  for (let cursor: unknown; ;) {
    signal.throwIfAborted();
    const args = {
      task_ids: [task_id],
      timeout_seconds: WAIT_SECONDS,
      ...(cursor !== undefined && { cursor }),
    };
    const waited = waitedSchema.parse(await call('wait_for_task', args));
    const [task] = waited.tasks;
    cursor = waited.cursor;
    const now = `${task.status.padEnd(9)}  ${task.activity === task.status ? '' : (task.activity ?? '')}`;
    if (now !== shown) timed(now);
    shown = now;
    if (isFinal(task.status)) return showEnd(call, task, await readDiff(project, path), say);
    for (const { decision_id, kind, summary } of task.decisions) {
      timed(`Claude Code asks: ${summary}?`);
      say(`> respond_to_task  ${decision_id}: allow`);
      const message = kind === 'trust' ? 'our own project' : 'what was asked for';
      await call('respond_to_task', { task_id, decision_id, verdict: 'allow', message });
    }
  }
}

/** `diff`: what differs from the last commit. Resolves with the exit code. */
async function showEnd(call: ToolCaller, task: SeenTask, diff: string, say: Stage['say']): Promise<number> {
  const { receipt } = receiptSchema.parse(await call('get_task_result', { task_id: task.task_id }));
  say(`\nThe task's end: ${task.status}. ${task.reason ?? ''}`);
  if (task.last_output) say(indented(task.last_output));
  const files = receipt.git.files.map((file) => `${file.path} (+${file.insertions} -${file.deletions})`);
  say('\n> get_task_result');
  for (const [name, items] of [
    ['files', files],
    ['commands', receipt.commands.map(commandText)],
  ] as const)
    say(oneLine(`  ${name}: ${items.length === 0 ? 'none' : items.join(', ')}`, LINE_CHARS));
  say(`\nWhat Claude Code changed (git diff):\n${diff === '' ? '  nothing' : indented(diff.trimEnd())}`);
  return task.status === 'completed' && diff !== '' ? exitCodes.done : exitCodes.failed;
}

async function findClaude(
  { claude, env, signal }: DemoOptions,
  log: (line: string) => void,
): Promise<string> {
  if (claude !== undefined) return realpath(claude);
  const found = await findOnPath('claude', env['PATH']);
  return found ?? findOrFetchClaude({ version: PINNED_VERSION, cacheDir: cacheDirOf(env), env, log, signal });
}

/** Of fetched versions: `$XDG_CACHE_HOME/claude-code-bridge/claude`, else below `~/.cache`. */
function cacheDirOf(env: DemoOptions['env']): string {
  const cacheHome = env['XDG_CACHE_HOME'];
  const base = cacheHome?.startsWith('/') ? cacheHome : join(env['HOME'] ?? homedir(), '.cache');
  return join(base, 'claude-code-bridge', 'claude');
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
  const call: ToolCaller = async (tool, args) => {
    const answer = answerSchema.parse(await client.callTool({ name: tool, arguments: { ...args } }));
    if (!answer.isError) return answer.structuredContent;
    throw new Error(`${tool} was refused: ${answer.content.map(({ text }) => text).join('\n')}`);
  };
  return { call, close: () => client.close() };
}

async function endTasks(call: ToolCaller): Promise<void> {
  const { tasks } = listedSchema.parse(await call('list_tasks', {}));
  for (const { task_id, status } of tasks) if (!isFinal(status)) await call('kill_task', { task_id });
}

function indented(text: string): string {
  return text.replace(/^/gm, '  ');
}
