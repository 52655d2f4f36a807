// `npm run test:live`: a task for your own, logged-in Claude Code, through the built server over MCP.
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { messageOf } from '../src/base/errors.js';
import { expandHome } from '../src/config/home-path.js';
import {
  followTask,
  readTaskOutput,
  startTask,
  type DecisionReply,
  type OpenDecision,
  type TaskView,
  type ToolCaller,
} from '../src/cli/demo/follow-task.js';
import { structuredContentOf } from '../src/cli/demo/tool-answer.js';

const SERVER_ENTRY = resolve(import.meta.dirname, '..', 'dist', 'main.js');
const USAGE =
  'Usage: npm run test:live -- [--dir <project>] [--prompt <text>] [--mode auto|cautious] [--driver interactive|print]';

const { values: flags } = parseArgs({
  options: {
    dir: { type: 'string' },
    prompt: { type: 'string' },
    mode: { type: 'string', default: 'cautious' },
    driver: { type: 'string', default: 'interactive' },
    help: { type: 'boolean', default: false },
  },
});

type Ask = (question: string) => Promise<string>;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The folder of the flag, or one that the person names: as often as it takes. */
async function askDirectory(ask: Ask): Promise<string> {
  for (;;) {
    const given = flags.dir ?? (await ask('Project directory: '));
    const path = resolve(expandHome(given.trim(), homedir()));
    const found = await stat(path).catch(() => undefined); // Reported below, as any path that is no directory.
    if (found?.isDirectory()) return path;
    const error = `${path} is not a directory. Name an existing project.`;
    if (flags.dir !== undefined) throw new Error(error);
    say(error);
  }
}

/** Asks with the lines of the input, also those that were there before the question. Throws when a question is left after its end. */
function asker(person: Interface, signal: AbortSignal): Ask {
  const lines = person[Symbol.asyncIterator]();
  return async (question) => {
    process.stdout.write(question);
    const stopped = new Promise<never>((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(new Error('interrupted')), { once: true }),
    );
    const next = await Promise.race([lines.next(), stopped]);
    if (next.done !== true) return next.value;
    throw new Error(`The input has ended, and this is left to answer: ${question}`);
  };
}

async function askPrompt(ask: Ask): Promise<string> {
  const prompt = flags.prompt ?? (await ask('Prompt (for example "List the files in this directory"): '));
  if (prompt.trim() === '') throw new Error('The prompt is empty. Say what Claude Code is to do.');
  return prompt;
}

async function decide(ask: Ask, decision: OpenDecision): Promise<DecisionReply> {
  say(`\nClaude Code asks (${decision.kind}, ${decision.tool}): ${decision.summary}`);
  if (decision.questions) return { verdict: 'allow', answers: await askQuestions(ask, decision.questions) };
  for (;;) {
    const answer = (await ask('[a]llow, allow for the [s]ession, [d]eny: ')).trim().toLowerCase();
    if (answer === 'a' || answer === 'allow') return { verdict: 'allow' };
    if (answer === 's' || answer === 'session') return { verdict: 'allow_session' };
    if (answer === 'd' || answer === 'deny') return { verdict: 'deny', message: await ask('Why not? ') };
  }
}

async function askQuestions(
  ask: Ask,
  questions: NonNullable<OpenDecision['questions']>,
): Promise<Record<string, string>> {
  const answers: Record<string, string> = {};
  for (const { question, options } of questions) {
    options.forEach((option, index) => say(`  ${index + 1}. ${option}`));
    const answer = (await ask(`${question} (a number, or your own words) `)).trim();
    // An option is shown as its label, then what it means.
    answers[question] = options[Number(answer) - 1]?.split(': ')[0] ?? answer;
  }
  return answers;
}

function showChange(task: TaskView): void {
  say(`  ${task.elapsed_seconds.toString().padStart(4)} s  ${task.status.padEnd(9)}  ${task.activity ?? ''}`);
}

async function run(ask: Ask, signal: AbortSignal): Promise<number> {
  const directory = await askDirectory(ask);
  const prompt = await askPrompt(ask);
  // Your own environment, on purpose: your login, your settings. Only the roots are narrowed to this project.
  const own = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const env = { ...Object.fromEntries(own), MCP_ALLOWED_ROOTS: directory };
  const client = new Client({ name: 'claude-code-bridge-test-live', version: '1.0.0' });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [SERVER_ENTRY], env, stderr: 'inherit' }),
  );
  const call: ToolCaller = async (tool, args) =>
    structuredContentOf(tool, await client.callTool({ name: tool, arguments: { ...args } }));
  try {
    return await delegate(call, directory, prompt, ask, signal);
  } finally {
    await client.close();
  }
}

async function delegate(
  call: ToolCaller,
  directory: string,
  prompt: string,
  ask: Ask,
  signal: AbortSignal,
): Promise<number> {
  const task = { prompt, path: directory, permission_mode: flags.mode, driver: flags.driver };
  const taskId = await startTask(call, task);
  say(`\n${taskId} started in ${directory}`);
  try {
    const follower = { onChange: showChange, decide: (decision: OpenDecision) => decide(ask, decision) };
    const end = await followTask(call, taskId, follower, signal);
    say(`\nThe task ${end.status}${end.reason ? `: ${end.reason}` : ''}\n`);
    say(end.final_message ?? end.last_output ?? (await readTaskOutput(call, taskId, 'log')));
    return end.status === 'completed' ? 0 : 1;
  } catch (error) {
    say(`\nStopping ${taskId} …`);
    await call('kill_task', { task_id: taskId }).catch((second: unknown) => say(messageOf(second)));
    throw error;
  }
}

if (flags.help) {
  say(USAGE);
} else {
  const stopped = new AbortController();
  const person = createInterface({ input: process.stdin, output: process.stdout });
  const stop = (): void => stopped.abort(new Error('interrupted'));
  person.on('SIGINT', stop);
  process.once('SIGTERM', stop);
  try {
    const ask = asker(person, stopped.signal);
    process.exitCode = await run(ask, stopped.signal);
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exitCode = 1;
  } finally {
    person.close();
    process.removeListener('SIGTERM', stop);
  }
}
