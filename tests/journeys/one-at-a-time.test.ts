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
import { until } from '../harness/until.js';

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

/** A task in a new project, with a prompt for the scripted agent. */
async function delegate(behaviour: string, client: TaskClient = bridge()): Promise<Delegated> {
  const path = await bridge().newProject('project');
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
afterEach(() => bridge().killAll());

test('one task runs at a time: it has a UUID at once, TaskStatus means it, another is refused with its id, and the next may come after it', async () => {
  const first = await delegate('never-exits');
  expect(first.status).toBe('running');
  expect(await bridge().call('TaskStatus')).toMatchObject({ taskId: first.taskId, status: 'running' });
  const path = await bridge().newProject('second');
  const error = await errorOf('DelegateTask', { prompt: 'AGENT: exit 0', path });
  expect(error).toMatchObject({ errorCode: 'TASK_ALREADY_RUNNING', taskId: first.taskId });
  expect(error.text).toMatch(/^TASK_ALREADY_RUNNING: Task already running/);
  expect(error.text).toContain(first.taskId);
  expect(error.text).not.toContain('()');
  await bridge().call('kill_task', { task_id: first.bridgeTaskId });
  const second = await ended('exit 0');
  expect(second.taskId).not.toBe(first.taskId);
  expect(JSON.parse(await bridge().mcp.readResource(`tasks://${second.bridgeTaskId}`))).toMatchObject({
    timeout_seconds: DEFAULT_LIMIT_SECONDS,
  });
  // Other tasks are none of these.
  await bridge().end(await bridge().start({ path, prompt: 'AGENT: exit 0' }));
  expect(await bridge().call('TaskStatus')).toMatchObject({ taskId: second.taskId, status: 'completed' });
});

test('what cannot be meant is refused with its code', async () => {
  const path = bridge().project;
  const codes = [];
  for (const [tool, args] of [
    ['DelegateTask', { path, prompt: '' }],
    ['DelegateTask', { path, prompt: 'x'.repeat(4_001) }],
    ['DelegateTask', { path: '/nowhere', prompt: 'AGENT: exit 0' }],
    ['TaskLogs', { taskId: NO_TASK, tail: 0 }],
    ['TaskLogs', { taskId: NO_TASK, tail: 1_001 }],
    ['CancelTask', { taskId: NO_TASK, reason: 'x'.repeat(201) }],
    ['TaskStatus', { taskId: 'current' }],
    ['TaskLogs', { taskId: 'task_0123456789abcdef0123' }],
    ['CancelTask', { taskId: NO_TASK.replace('-4', '-1') }],
    ['TaskStatus', { taskId: NO_TASK }],
    ['TaskLogs', { taskId: NO_TASK }],
    ['CancelTask', { taskId: NO_TASK }],
  ] as const)
    codes.push(`${tool}: ${(await errorOf(tool, args)).errorCode}`);
  expect(codes).toEqual([
    'DelegateTask: INVALID_ARGUMENTS',
    'DelegateTask: INVALID_ARGUMENTS',
    'DelegateTask: PATH_NOT_ALLOWED',
    'TaskLogs: INVALID_ARGUMENTS',
    'TaskLogs: INVALID_ARGUMENTS',
    'CancelTask: INVALID_ARGUMENTS',
    'TaskStatus: INVALID_ARGUMENTS',
    'TaskLogs: INVALID_ARGUMENTS',
    'CancelTask: INVALID_ARGUMENTS',
    'TaskStatus: TASK_NOT_FOUND',
    'TaskLogs: TASK_NOT_FOUND',
    'CancelTask: TASK_NOT_FOUND',
  ]);
});

describe('DelegateTask', () => {
  test('hands over a prompt of 4000 characters as it is: no shell reads it', async () => {
    const path = await bridge().newProject('no-shell');
    const prompt = 'AGENT: echo\n$(touch ran) `touch ran` "; touch ran; #\n'.padEnd(4_000, 'x');
    const task = taskSchema.parse(await bridge().call('DelegateTask', { prompt, path }));
    await bridge().end(task.bridgeTaskId);
    const lines = await linesOf(task.taskId);
    expect(lines).toContain('$(touch ran) `touch ran` "; touch ran; #');
    expect(lines).toContain('BYTES:4000');
    await expect(access(join(path, 'ran'))).rejects.toThrow('ENOENT');
  });

  test('without a path runs in the current directory of the server, if it lies in the allowed roots', async () => {
    const path = await bridge().newProject('current');
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

  test('sets CLAUDE_CODE_TASK_ID, CLAUDE_CODE_TIMEOUT and CLAUDE_CODE_MAX_TOKENS for the program, and start_task does not', async () => {
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

  test('of a program that is not there says CLAUDE_NOT_FOUND', async () => {
    const client = await bridge().another('modern', { env: { MCP_CLAUDE_COMMAND: '/nowhere/claude' } });
    await expect(delegate('exit 0', client)).rejects.toThrow(/^CLAUDE_NOT_FOUND: /);
  });
});

test('CLAUDE_CODE_PATH, LOG_LEVEL, MAX_OUTPUT_BUFFER and TASK_TIMEOUT set what they name, and stderr says once that MCP_SERVER_NAME and MCP_SERVER_VERSION are not used', async () => {
  const client = await bridge().another('modern', {
    command: ['env', '-u', 'MCP_CLAUDE_COMMAND', process.execPath, serverEntry],
    env: {
      CLAUDE_CODE_PATH: scriptedAgent,
      LOG_LEVEL: 'warn',
      MAX_OUTPUT_BUFFER: '2000000',
      TASK_TIMEOUT: '900000',
      MCP_SERVER_NAME: 'claudine',
      MCP_SERVER_VERSION: '0.1.0',
    },
  });
  expect(JSON.parse(await client.mcp.readResource('config://current'))).toMatchObject({
    claude_command: scriptedAgent,
    log_level: 'warn',
    max_log_size_bytes: 2_000_000,
    default_timeout_seconds: 900,
  });
  const { bridgeTaskId } = await delegate('exit 0', client);
  expect(await bridge().end(bridgeTaskId)).toMatchObject({ status: 'completed' });
  await until('both names on stderr', () =>
    expect(client.mcp.log()).toMatch(/MCP_SERVER_NAME[^]*MCP_SERVER_VERSION/),
  );
});

test('TaskStatus says completed or failed, with the exit code', async () => {
  const ends = [];
  for (const behaviour of ['exit 0', 'exit 3']) {
    const { taskId } = await ended(behaviour);
    ends.push(await bridge().call('TaskStatus', { taskId }));
  }
  expect(ends).toMatchObject([
    { status: 'completed', exitCode: 0 },
    { status: 'failed', exitCode: 3 },
  ]);
});

describe('TaskLogs', () => {
  test('has what the task printed, stdout and stderr: the last 100 lines, or as many as tail says', async () => {
    const both = await delegate('prints-both');
    await until('both streams', async () =>
      expect(await linesOf(both.taskId)).toEqual(expect.arrayContaining(['to stdout', 'to stderr'])),
    );
    await bridge().killAll();
    const { taskId } = await ended('floods 1');
    expect(await linesOf(taskId)).toHaveLength(100);
    const ten = await linesOf(taskId, 10);
    expect(ten).toHaveLength(10);
    expect(ten).toContain('FLOOD END');
    expect(await linesOf(taskId, 1_000)).toHaveLength(1_000);
  });

  test('says that older output was left out when there was more than the log holds', async () => {
    const client = await bridge().another('modern', { env: { MCP_MAX_LOG_SIZE: '20000' } });
    const { taskId, bridgeTaskId } = await delegate('floods 1', client);
    await bridge().end(bridgeTaskId);
    const lines = await linesOf(taskId, 1_000);
    expect(lines.join('\n')).toMatch(/^\[(The log was rotated: .* bytes are gone|\d+ bytes left out: )/m);
    expect(lines).toContain('FLOOD END');
  });
});

test('CancelTask sends SIGTERM, and SIGKILL after 5 seconds; the status is cancelled with the reason, and cannot become it again', async () => {
  const { taskId } = await delegate('ignores-sigterm');
  await until('the agent is ready', async () => expect(await linesOf(taskId)).toContain('READY'));
  const startMs = performance.now();
  const cancelled = { taskId, status: 'cancelled', reason: 'Not that one.' };
  expect(await bridge().call('CancelTask', { taskId, reason: 'Not that one.' })).toMatchObject(cancelled);
  expect(performance.now() - startMs).toBeGreaterThan(4_500);
  expect(await linesOf(taskId)).toContain('ignoring SIGTERM');
  expect(await bridge().call('TaskStatus', { taskId })).toMatchObject(cancelled);
  expect(await errorOf('CancelTask', { taskId })).toMatchObject({ errorCode: 'TASK_NOT_RUNNING' });
});

describeNewestClaude('a delegation from start to end', ({ binary }) => {
  const real = sharedBridge({
    claude: binary,
    script: ({ toolResults }) =>
      toolResults.length > 0 ? says('It said hello.') : runs('printf "Hello, %s!\\n" World | tee hello.txt'),
    env: { MCP_TOOLSETS: 'delegate,tasks,project' },
  });

  test('gives an id, then the status completed, and logs', async () => {
    const path = await real().newProject('hello');
    const started = taskSchema.parse(
      await real().call('DelegateTask', { prompt: 'echo "Hello, World!"', path }),
    );
    await real().end(started.bridgeTaskId);
    expect(await real().call('TaskStatus', { taskId: started.taskId })).toMatchObject({
      status: 'completed',
      exitCode: 0,
      output: 'It said hello.',
    });
    expect(await readFile(join(path, 'hello.txt'), 'utf8')).toBe('Hello, World!\n');
    const { lines } = logsSchema.parse(await real().call('TaskLogs', { taskId: started.taskId }));
    expect(lines.join('\n')).toContain('It said hello.');
    expect(lines.map((line) => line.trim())).toContain('Hello, World!');
  });
});
