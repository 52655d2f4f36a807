// The specification of one-at-a-time delegation: "MCP Tool Schemas", "Process Management", "Error Handling", "Testing Strategy".
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { describeNewestClaude } from '../harness/real-claude.js';
import { scriptedAgent, writeProgram } from '../harness/scripted-agent.js';
import { runs, says } from '../harness/scripted-turns.js';
import { serverEntry, sharedBridge } from '../harness/start-bridge.js';
import type { TaskClient } from '../harness/task-client.js';

const bridge = sharedBridge({ claude: scriptedAgent, env: { MCP_TOOLSETS: 'delegate,tasks,project' } });

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const NO_TASK = '00000000-0000-4000-8000-000000000000';
const DEFAULT_LIMIT_SECONDS = 3_600;

const taskSchema = z.looseObject({
  taskId: z.string().regex(UUID_V4),
  bridgeTaskId: z.string(),
  status: z.string(),
});
const logsSchema = z.object({ lines: z.array(z.string()), totalBytes: z.int() });
const errorSchema = z.looseObject({
  isError: z.literal(true),
  content: z.tuple([z.looseObject({ text: z.string() })]),
  _meta: z.object({ error: z.looseObject({ errorCode: z.string() }) }),
});
type Delegated = z.infer<typeof taskSchema>;

let count = 0;
/** A task in a new project, with a prompt for the scripted agent. */
async function delegate(behaviour: string, client: TaskClient = bridge()): Promise<Delegated> {
  const path = await bridge().workplace.project(`project-${count++}`);
  return taskSchema.parse(await client.call('DelegateTask', { prompt: `AGENT: ${behaviour}`, path }));
}

async function ended(behaviour: string): Promise<Delegated> {
  const task = await delegate(behaviour);
  await bridge().end(task.bridgeTaskId);
  return task;
}

async function errorOf(tool: string, args: Readonly<Record<string, unknown>>) {
  const { content, _meta } = errorSchema.parse(await bridge().mcp.callTool(tool, args));
  return { text: content[0].text, ..._meta.error };
}

async function linesOf(taskId: string, tail?: number): Promise<string[]> {
  return logsSchema.parse(await bridge().call('TaskLogs', { taskId, tail })).lines;
}

/** One runs at a time: the next test starts another. */
afterEach(async () => {
  const { tasks } = z
    .object({ tasks: z.array(z.looseObject({ task_id: z.string() })) })
    .parse(await bridge().call('list_tasks', { status: 'active' }));
  for (const { task_id } of tasks) await bridge().call('kill_task', { task_id });
});

describe('DelegateTask', () => {
  test('answers at once with a UUID, while the task runs', async () => {
    const { status } = await delegate('never-exits');
    expect(status).toBe('running');
  });

  test.each([0, 4_001])('refuses a prompt of %d characters', async (length) => {
    const args = { prompt: 'x'.repeat(length), path: bridge().project };
    expect(await errorOf('DelegateTask', args)).toMatchObject({ errorCode: 'INVALID_ARGUMENTS' });
  });

  test('takes a prompt of 4000 characters', async () => {
    const task = await delegate(`exit 0 ${'x'.repeat(4_000 - 'AGENT: exit 0 '.length)}`);
    expect(await bridge().end(task.bridgeTaskId)).toMatchObject({ status: 'completed' });
  });

  test('runs one task at a time: another is refused with TASK_ALREADY_RUNNING and the id of the first', async () => {
    const first = await delegate('never-exits');
    const path = await bridge().workplace.project('second');
    const error = await errorOf('DelegateTask', { prompt: 'AGENT: exit 0', path });
    expect(error).toMatchObject({ errorCode: 'TASK_ALREADY_RUNNING', taskId: first.taskId });
    expect(error.text).toMatch(/^TASK_ALREADY_RUNNING: Task already running/);
    expect(error.text).toContain(first.taskId);
    expect(error.text).not.toContain('()');
  });

  test('takes the next task when the first has ended', async () => {
    const first = await ended('exit 0');
    const second = await ended('exit 0');
    expect(second.taskId).not.toBe(first.taskId);
  });

  test('has the time limit of the settings', async () => {
    const { bridgeTaskId } = await ended('exit 0');
    expect(JSON.parse(await bridge().mcp.readResource(`tasks://${bridgeTaskId}`))).toMatchObject({
      timeout_seconds: DEFAULT_LIMIT_SECONDS,
    });
  });

  test('without a path runs in the current directory of the server, if it lies in the allowed roots', async () => {
    const path = await bridge().workplace.project('current');
    const client = await bridge().another('modern', {
      command: ['sh', '-c', 'cd "$1" && exec "$2" "$3"', 'sh', path, process.execPath, serverEntry],
    });
    const task = taskSchema.parse(await client.call('DelegateTask', { prompt: 'AGENT: exit 0' }));
    await bridge().end(task.bridgeTaskId);
    expect(JSON.parse(await bridge().mcp.readResource(`tasks://${task.bridgeTaskId}`))).toMatchObject({
      project_path: path,
    });
    expect(await client.call('start_task', { prompt: 'AGENT: exit 0' })).toMatchObject({ status: 'running' });
  });

  test('sets CLAUDE_CODE_TASK_ID, CLAUDE_CODE_TIMEOUT and CLAUDE_CODE_MAX_TOKENS for the program', async () => {
    const program = await writeProgram(bridge().workplace, 'shows-environment', 'read -r _; env');
    const env = { MCP_CLAUDE_COMMAND: program };
    const client = await bridge().another('modern', { env });
    const task = await delegate('nothing', client);
    await bridge().end(task.bridgeTaskId);
    const lines = await linesOf(task.taskId, 1_000);
    expect(lines).toContain(`CLAUDE_CODE_TASK_ID=${task.taskId}`);
    expect(lines).toContain(`CLAUDE_CODE_TIMEOUT=${DEFAULT_LIMIT_SECONDS * 1_000}`);
    expect(lines).toContain('CLAUDE_CODE_MAX_TOKENS=100000');
    const id = await client.start({ prompt: 'nothing', path: bridge().project, driver: 'print' });
    await client.end(id);
    expect((await client.output(id, 'log', { max_bytes: 100_000 })).text).not.toContain(
      'CLAUDE_CODE_TASK_ID',
    );
  });

  test('hands over the prompt without a shell', async () => {
    const path = await bridge().workplace.project('no-shell');
    const prompt = 'AGENT: echo\n$(touch ran) `touch ran` "; touch ran; #';
    const task = taskSchema.parse(await bridge().call('DelegateTask', { prompt, path }));
    await bridge().end(task.bridgeTaskId);
    expect((await linesOf(task.taskId)).join('\n')).toContain('$(touch ran) `touch ran` "; touch ran; #');
    await expect(access(join(path, 'ran'))).rejects.toThrow('ENOENT');
  });

  test('of a program that is not there says CLAUDE_NOT_FOUND', async () => {
    const client = await bridge().another('modern', { env: { MCP_CLAUDE_COMMAND: '/nowhere/claude' } });
    await expect(delegate('exit 0', client)).rejects.toThrow(/^CLAUDE_NOT_FOUND: /);
  });
});

test('LOG_LEVEL, MAX_OUTPUT_BUFFER and TASK_TIMEOUT set the level of the log, its size and the time limit', async () => {
  const env = { LOG_LEVEL: 'warn', MAX_OUTPUT_BUFFER: '2000000', TASK_TIMEOUT: '900000' };
  const client = await bridge().another('modern', { env });
  expect(JSON.parse(await client.mcp.readResource('config://current'))).toMatchObject({
    log_level: 'warn',
    max_log_size_bytes: 2_000_000,
    default_timeout_seconds: 900,
  });
});

test('MCP_SERVER_NAME and MCP_SERVER_VERSION are named once on stderr as not used', async () => {
  const env = { MCP_SERVER_NAME: 'claudine', MCP_SERVER_VERSION: '0.1.0' };
  const client = await bridge().another('modern', { env });
  await expect.poll(() => client.mcp.log()).toMatch(/MCP_SERVER_NAME/);
  expect(client.mcp.log()).toMatch(/MCP_SERVER_VERSION/);
});

describe('TaskStatus', () => {
  test('without taskId is that of the current task', async () => {
    const { taskId } = await delegate('never-exits');
    expect(await bridge().call('TaskStatus')).toMatchObject({ taskId, status: 'running' });
  });

  test('says completed or failed, with the exit code', async () => {
    const completed = await ended('exit 0');
    const failed = await ended('exit 3');
    expect(await bridge().call('TaskStatus', { taskId: completed.taskId })).toMatchObject({
      status: 'completed',
      exitCode: 0,
    });
    expect(await bridge().call('TaskStatus', { taskId: failed.taskId })).toMatchObject({
      status: 'failed',
      exitCode: 3,
    });
  });
});

describe('TaskLogs', () => {
  test('has what the task printed, stdout and stderr', async () => {
    const { taskId } = await delegate('prints-both');
    await expect.poll(() => linesOf(taskId)).toEqual(expect.arrayContaining(['to stdout', 'to stderr']));
  });

  test('gives the last 100 lines, or as many as tail says', async () => {
    const { taskId } = await ended('floods 1');
    expect(await linesOf(taskId)).toHaveLength(100);
    const ten = await linesOf(taskId, 10);
    expect(ten).toHaveLength(10);
    expect(ten).toContain('FLOOD END');
    expect(await linesOf(taskId, 1_000)).toHaveLength(1_000);
  });

  test.each([0, 1_001])('refuses %d as tail', async (tail) => {
    expect(await errorOf('TaskLogs', { taskId: NO_TASK, tail })).toMatchObject({
      errorCode: 'INVALID_ARGUMENTS',
    });
  });
});

describe('CancelTask', () => {
  test('ends a running task, and its status is cancelled with the reason', async () => {
    const { taskId } = await delegate('never-exits');
    const cancelled = { taskId, status: 'cancelled', reason: 'Not that one.' };
    expect(await bridge().call('CancelTask', { taskId, reason: 'Not that one.' })).toMatchObject(cancelled);
    expect(await bridge().call('TaskStatus', { taskId })).toMatchObject(cancelled);
  });

  test('sends SIGTERM, and SIGKILL after 5 seconds', async () => {
    const { taskId } = await delegate('ignores-sigterm');
    await expect.poll(() => linesOf(taskId)).toContain('READY');
    const startMs = performance.now();
    expect(await bridge().call('CancelTask', { taskId })).toMatchObject({ status: 'cancelled' });
    expect(performance.now() - startMs).toBeGreaterThan(4_500);
    expect(await linesOf(taskId)).toContain('ignoring SIGTERM');
  });

  test('refuses a reason of more than 200 characters', async () => {
    const { taskId } = await delegate('never-exits');
    expect(await errorOf('CancelTask', { taskId, reason: 'x'.repeat(201) })).toMatchObject({
      errorCode: 'INVALID_ARGUMENTS',
    });
    expect(await bridge().call('TaskStatus', { taskId })).toMatchObject({ status: 'running' });
  });

  test('of a task that has ended is an error', async () => {
    const { taskId } = await ended('exit 0');
    expect(await errorOf('CancelTask', { taskId })).toMatchObject({ errorCode: 'TASK_NOT_RUNNING' });
  });
});

test.each(['TaskStatus', 'TaskLogs', 'CancelTask'])(
  '%s answers TASK_NOT_FOUND for an unknown task, and refuses what is no UUID',
  async (tool) => {
    expect(await errorOf(tool, { taskId: NO_TASK })).toMatchObject({ errorCode: 'TASK_NOT_FOUND' });
    for (const taskId of ['current', 'task_0123456789abcdef0123', NO_TASK.replace('-4', '-1')])
      expect(await errorOf(tool, { taskId })).toMatchObject({ errorCode: 'INVALID_ARGUMENTS' });
  },
);

test('says that older output was left out when there was more than the log holds', async () => {
  const client = await bridge().another('modern', { env: { MCP_MAX_LOG_SIZE: '50000' } });
  const { taskId, bridgeTaskId } = await delegate('floods 1', client);
  await bridge().end(bridgeTaskId);
  const lines = await linesOf(taskId, 1_000);
  expect(lines.filter((line) => /left out|missing|dropped/i.test(line))).toHaveLength(1);
  expect(lines).toContain('FLOOD END');
});

describe('environment variables', () => {
  test('CLAUDE_CODE_PATH is the program, where MCP_CLAUDE_COMMAND is not set', async () => {
    const client = await bridge().another('modern', {
      command: ['env', '-u', 'MCP_CLAUDE_COMMAND', process.execPath, serverEntry],
      env: { CLAUDE_CODE_PATH: scriptedAgent },
    });
    const { bridgeTaskId } = await delegate('exit 0', client);
    expect(await bridge().end(bridgeTaskId)).toMatchObject({ status: 'completed' });
  });
});

describeNewestClaude('a delegation from start to end', ({ binary }) => {
  const real = sharedBridge({
    claude: binary,
    script: [runs('printf "Hello, %s!\\n" World | tee hello.txt'), says('It said hello.')],
    env: { MCP_TOOLSETS: 'delegate,tasks,project' },
  });

  test('gives an id, then the status completed, and logs', async () => {
    const path = real().project;
    const started = taskSchema.parse(
      await real().call('DelegateTask', { prompt: 'echo "Hello, World!"', path }),
    );
    await expect
      .poll(() => real().call('TaskStatus', { taskId: started.taskId }))
      .toMatchObject({ status: 'completed', exitCode: 0, output: 'It said hello.' });
    expect(await readFile(join(path, 'hello.txt'), 'utf8')).toBe('Hello, World!\n');
    const { lines } = logsSchema.parse(await real().call('TaskLogs', { taskId: started.taskId }));
    expect(lines.join('\n')).toContain('It said hello.');
    expect(lines.map((line) => line.trim())).toContain('Hello, World!');
  });
});
