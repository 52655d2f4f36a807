// `npm run test:live -- [--dir <project>] [--prompt <text>] [--mode auto|cautious] [--driver interactive|print]`: a task for your own,
// logged-in Claude Code, through the built server over MCP.
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { messageOf } from '../src/base/errors.js';
import { expandHome } from '../src/config/places.js';
import {
  followTask,
  readTaskOutput,
  startTask,
  structuredContentOf,
  type DecisionReply,
  type OpenDecision,
  type TaskView,
  type ToolCaller,
} from '../src/cli/demo/follow-task.js';

const SERVER_ENTRY = resolve(import.meta.dirname, '..', 'dist', 'main.js');
const { values: flags } = parseArgs({
  options: {
    dir: { type: 'string' },
    prompt: { type: 'string' },
    mode: { type: 'string', default: 'cautious' },
    driver: { type: 'string', default: 'interactive' },
  },
});

type Ask = (question: string) => Promise<string>;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Asks with the lines of the input, also those that were there before the question. Throws when a question is left after its end. */
function asker(person: Interface, signal: AbortSignal): Ask {
  const lines = person[Symbol.asyncIterator]();
  return async (question) => {
    process.stdout.write(question);
    const next = await lines.next();
    if (next.done !== true) return next.value;
    throw new Error(
      signal.aborted ? 'interrupted' : `The input has ended, and this is left to answer: ${question}`,
    );
  };
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
  // The server says what is wrong with either.
  const given = flags.dir ?? (await ask('Project directory: '));
  const path = resolve(expandHome(given.trim(), homedir()));
  const prompt = flags.prompt ?? (await ask('Prompt (for example "List the files in this directory"): '));
  // Your own environment, on purpose: your login, your settings. Only the roots are narrowed to this project.
  const own = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  const env = { ...Object.fromEntries(own), MCP_ALLOWED_ROOTS: path };
  const client = new Client({ name: 'claude-code-bridge-test-live', version: '1.0.0' });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [SERVER_ENTRY], env, stderr: 'inherit' }),
  );
  const call: ToolCaller = async (tool, args) =>
    structuredContentOf(tool, await client.callTool({ name: tool, arguments: { ...args } }));
  let taskId: string | undefined;
  try {
    const { mode, driver } = flags;
    taskId = await startTask(call, { prompt, path, permission_mode: mode, driver });
    say(`\n${taskId} started in ${path}`);
    const follower = { onChange: showChange, decide: (decision: OpenDecision) => decide(ask, decision) };
    const end = await followTask(call, taskId, follower, signal);
    say(`\nThe task ${end.status}${end.reason ? `: ${end.reason}` : ''}\n`);
    say(end.final_message ?? end.last_output ?? (await readTaskOutput(call, taskId, 'log')));
    return end.status === 'completed' ? 0 : 1;
  } catch (error) {
    if (taskId === undefined) throw error;
    say(`\nStopping ${taskId} …`);
    await call('kill_task', { task_id: taskId }).catch((second: unknown) => say(messageOf(second)));
    throw error;
  } finally {
    await client.close();
  }
}

const stopped = new AbortController();
const person = createInterface({ input: process.stdin, output: process.stdout });
const stop = (): void => {
  stopped.abort(new Error('interrupted'));
  person.close();
};
person.on('SIGINT', stop);
process.once('SIGTERM', stop);
try {
  process.exitCode = await run(asker(person, stopped.signal), stopped.signal);
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
} finally {
  person.close();
}
