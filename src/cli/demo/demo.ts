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
import { receiptSchema } from '../../tasks/receipt/receipt.js';
import { isFinal, taskStatusSchema } from '../../tasks/task.js';
import { taskOutput } from '../../tools/tasks/task-fields.js';
import { exitCodes } from '../exit-codes.js';
import { commandText } from '../receipt-text.js';
import { scriptedClaudeEnvironment, writeClaudeHome } from './claude-home.js';
import { createDemoProject, DEMO_PROMPT, demoScript, readDiff } from './demo-project.js';
import { findOrFetchClaude, PINNED_VERSION } from './fetch-claude.js';
import { startScriptedApi } from './scripted-api.js';

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

/** Calls a tool over MCP and reads its `structuredContent`; rejects when the answer is an error. */
type ToolCaller = <T>(
  tool: string,
  args: Readonly<Record<string, unknown>>,
  schema: z.ZodType<T>,
) => Promise<T>;

const answerSchema = z.object({
  isError: z.boolean().default(false),
  structuredContent: z.unknown(),
  content: z.array(z.looseObject({ text: z.string().default('') })).default([]),
});
const startedSchema = z.object({ task_id: z.string() });
const seenSchema = z.object({
  ...taskOutput,
  activity: z.string().nullish(),
  reason: z.string().nullish(),
  last_output: z.string().nullish(),
});
type SeenTask = z.infer<typeof seenSchema>;
const waitedSchema = z.object({ tasks: z.tuple([seenSchema]), cursor: z.unknown() });
const listedSchema = z.object({
  tasks: z.array(z.object({ task_id: z.string(), status: taskStatusSchema })),
});
const resultSchema = z.object({ receipt: receiptSchema.pick({ commands: true, git: true }) });

/**
 * Delegates a task to the real CLI through the built server, with a scripted model instead of the service, and shows
 * it. Resolves with the exit code: 0 only when the file was really changed. Leaves nothing behind but a fetched CLI.
 */
export async function runDemo(options: DemoOptions): Promise<number> {
  const { write, env, signal } = options;
  const startedMs = performance.now();
  const seconds = (): string => ((performance.now() - startedMs) / 1000).toFixed(1);
  const say = (line: string): void => write(`${line}\n`);
  say('A task for Claude Code through claude-code-bridge. The CLI, its tools and the project are real;');
  say('only the model is scripted, so no account is needed.\n');
  const folder = await realpath(await makeTempFolder('claude-code-bridge-demo-'));
  const project = join(folder, 'shop-math');
  // The server's and the model's `node` is the one that runs the demo.
  const path = [dirname(process.execPath), env['PATH'] ?? '/usr/bin:/bin'].join(delimiter);
  const near = (text: string): string => oneLine(text.replaceAll(`${project}/`, ''), LINE_CHARS);
  const timed = (text: string): void => say(near(`  ${seconds().padStart(6)} s  ${text}`.trimEnd()));
  try {
    return await runIn(folder, options, { project, path, say, timed, signal });
  } catch (error) {
    say(signal.aborted ? '\nYou ended the demo.' : `\nThe demo failed: ${messageOf(error)}`);
    return signal.aborted ? exitCodes.interrupted : exitCodes.failed;
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
  const api = await startScriptedApi(demoScript(project));
  let log = '';
  let server: DemoServer | undefined;
  const startServer = async (): Promise<DemoServer> => {
    const env = {
      ...scriptedClaudeEnvironment({ homeDir, apiUrl: api.url, path }),
      MCP_ALLOWED_ROOTS: folder,
      MCP_STATE_DIR: join(folder, 'state'),
      MCP_CLAUDE_COMMAND: JSON.stringify([claude]),
    };
    const onLog = (text: string): void => void (log = tailChars(log + text, LOG_CHARS));
    return (server = await startDemoServer(options.serverEntry, folder, env, onLog));
  };
  try {
    return await delegate((await startServer()).call, stage);
  } catch (error) {
    if (log !== '' && !signal.aborted) say(`\nThe server said on stderr:\n${indented(log.trimEnd())}`);
    await server?.close();
    // A task outlives its server by design, and Ctrl-C in a terminal ends the server too: another one ends the tasks.
    const { call } = await startServer();
    const { tasks } = await call('list_tasks', {}, listedSchema);
    for (const { task_id, status } of tasks)
      if (!isFinal(status)) await call('kill_task', { task_id }, z.unknown());
    throw error;
  } finally {
    await server?.close();
    await api.dispose();
  }
}

/** Starts the task, allows what it asks, and shows what it did, as the bridge hands it back. */
async function delegate(call: ToolCaller, { project, path, signal, say, timed }: Stage): Promise<number> {
  say(`\n> start_task    "${DEMO_PROMPT}"`);
  const task = {
    prompt: DEMO_PROMPT,
    path: project,
    permission_mode: 'cautious',
    timeout_seconds: TASK_LIMIT_SECONDS,
  };
  const { task_id } = await call('start_task', task, startedSchema);
  say(`                ${task_id}, permission mode cautious\n> wait_for_task`);
  let shown = '';
  for (let cursor: unknown; ;) {
    signal.throwIfAborted();
    const args = {
      task_ids: [task_id],
      timeout_seconds: WAIT_SECONDS,
      ...(cursor !== undefined && { cursor }),
    };
    const waited = await call('wait_for_task', args, waitedSchema);
    const [seen] = waited.tasks;
    cursor = waited.cursor;
    const now = `${seen.status.padEnd(9)}  ${seen.activity === seen.status ? '' : (seen.activity ?? '')}`;
    if (now !== shown) timed(now);
    shown = now;
    if (isFinal(seen.status)) return showEnd(call, seen, await readDiff(project, path), say);
    for (const { decision_id, kind, summary } of seen.decisions) {
      timed(`Claude Code asks: ${summary}?`);
      say(`> respond_to_task  ${decision_id}: allow`);
      const message = kind === 'trust' ? 'our own project' : 'what was asked for';
      await call('respond_to_task', { task_id, decision_id, verdict: 'allow', message }, z.unknown());
    }
  }
}

/** `diff`: what differs from the last commit. Resolves with the exit code. */
async function showEnd(call: ToolCaller, task: SeenTask, diff: string, say: Stage['say']): Promise<number> {
  const { receipt } = await call('get_task_result', { task_id: task.task_id }, resultSchema);
  const files = (receipt.git.state === 'repository' ? receipt.git.files : []).map(
    ({ path, insertions = 0, deletions = 0 }) => `${path} (+${insertions} -${deletions})`,
  );
  const list = (name: string, items: readonly string[]): string =>
    oneLine(`  ${name}: ${items.length === 0 ? 'none' : items.join(', ')}`, LINE_CHARS);
  say(`\nThe task's end: ${task.status}. ${task.reason ?? ''}`);
  if (task.last_output) say(indented(task.last_output));
  say('\n> get_task_result');
  say(list('files', files));
  say(list('commands', receipt.commands.map(commandText)));
  say(`\nWhat Claude Code changed (git diff):\n${diff === '' ? '  nothing' : indented(diff.trimEnd())}`);
  return task.status === 'completed' && diff !== '' ? exitCodes.done : exitCodes.failed;
}

/** The program that was named, or that of PATH, or one that was fetched into `$XDG_CACHE_HOME` or `~/.cache`. */
async function findClaude(
  { claude, env, signal }: DemoOptions,
  log: (line: string) => void,
): Promise<string> {
  if (claude !== undefined) return realpath(claude);
  const found = await findOnPath('claude', env['PATH']);
  if (found !== undefined) return found;
  const cacheHome = env['XDG_CACHE_HOME'];
  const base = cacheHome?.startsWith('/') ? cacheHome : join(env['HOME'] ?? homedir(), '.cache');
  const cacheDir = join(base, 'claude-code-bridge', 'claude');
  return findOrFetchClaude({ version: PINNED_VERSION, cacheDir, env, log, signal });
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
  const call: ToolCaller = async (tool, given, schema) => {
    const answer = answerSchema.parse(await client.callTool({ name: tool, arguments: { ...given } }));
    if (!answer.isError) return schema.parse(answer.structuredContent);
    throw new Error(`${tool} was refused: ${answer.content.map(({ text }) => text).join('\n')}`);
  };
  return { call, close: () => client.close() };
}

function indented(text: string): string {
  return text.replace(/^/gm, '  ');
}
