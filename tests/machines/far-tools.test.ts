import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { approvalModes, type ModeSettings, type RuleRow } from '../../src/approvals/modes.js';
import { BridgeError } from '../../src/base/errors.js';
import { silentLogger } from '../../src/base/logger.js';
import { withMachines } from '../../src/machines/far-tools.js';
import { unreachable } from '../../src/machines/unreachable.js';
import { isObject, type JsonObject } from '../../src/mcp/answers.js';
import { callTool } from '../../src/mcp/serve-tools.js';
import type { Follower, Tool } from '../../src/mcp/tool.js';
import type { ToolServices } from '../../src/tools/services.js';
import { allTools } from '../tools/all-tools.js';
import { taskRecord } from '../tools/fake-task-service.js';
import { unusedServices } from '../tools/unused-services.js';
import { FakeMachine, ListedTasks, machinesOf } from './fake-machine.js';

const ID = 'task_0123456789abcdef0123';
const PID = 'proc_0123456789ab';
const ROWS: readonly RuleRow[] = [
  { rule: 'Bash(git push *)', verdict: 'deny', reason: 'A person pushes.' },
  { rule: 'Bash(ls *)', verdict: 'allow', reason: 'It reads.' },
];

interface Settings {
  readonly modes?: Partial<ModeSettings>;
  readonly rules?: readonly RuleRow[];
  readonly isInside?: boolean;
  readonly follower?: Follower;
}

/** All tools with the machines `gpu` and `pod`; a tool that runs here fails the test, unless it is one of `here`. */
function near({ modes = {}, rules = [], isInside = false, follower }: Settings = {}) {
  const gpu = new FakeMachine('gpu', new ListedTasks(taskRecord({ task_id: ID })));
  const ran: string[] = [];
  const local = allTools.map((tool) => ({
    ...tool,
    listing: tool.listing,
    run: async (args: unknown): Promise<JsonObject> => {
      ran.push(`${tool.name} ${JSON.stringify(args)}`);
      if (isObject(args) && args['task_id'] === ID)
        throw new BridgeError('TASK_NOT_FOUND', `Task not found: ${ID}.`, '');
      return { here: true };
    },
  }));
  const tools = withMachines<ToolServices, (typeof local)[number]>(local, {
    names: ['gpu', 'pod'],
    machines: async () => machinesOf(gpu),
    tasks: async () => ({ get: async () => taskRecord({ task_id: `gpu/${ID}` }) }),
    guard: async () => {
      if (isInside) throw new BridgeError('INSIDE_TASK', 'No machines in here.', '');
    },
    modes: {
      ...{
        default_permission_mode: 'auto',
        allowed_permission_modes: approvalModes,
        projects: {},
        origins: {},
      },
      ...modes,
    },
    rules,
  });
  const host = { services: unusedServices, logger: silentLogger };
  const call = async (name: string, args: JsonObject) => {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`there is no tool ${name}`);
    const { signal } = new AbortController();
    const result = await callTool(tool, args, host, { signal, progress: () => undefined, follower });
    return { ...result, text: result.content[0].text, data: result.structuredContent };
  };
  return { gpu, ran, tools, call, sent: () => gpu.toolCalls.map(({ name, args }) => ({ name, args })) };
}

const propertiesOf = ({ listing }: Pick<Tool<never>, 'listing'>): JsonObject => {
  const { properties } = listing.inputSchema;
  return isObject(properties) ? properties : {};
};

describe('the argument machine', () => {
  test('is listed for tools that begin something, and for files, git and lists; names are those of the settings', () => {
    const { tools } = near();
    const taking = tools.filter((tool) => 'machine' in propertiesOf(tool)).map(({ name }) => name);
    expect(taking.join(' ')).toBe(
      'create_directory get_file_tree git_diff git_diff_stat git_log git_show git_status init_git_repo list_files list_tasks ps read_file read_file_range search_files spawn start_task write_file',
    );
    const [tool] = tools.filter(({ name }) => name === 'ps');
    expect(tool && propertiesOf(tool)['machine']).toEqual({
      type: 'string',
      enum: ['gpu', 'pod'],
      description: 'Default: here',
    });
  });

  it('sends the call there with all else as it was given, and runs nothing here', async () => {
    const { gpu, call, ran, sent } = near();
    gpu.answer = () => ({ path: '/srv/app/a.txt', content: ID });
    const { data } = await call('read_file', { path: '/srv/app/a.txt', max_bytes: 500, machine: 'gpu' });
    expect(data).toEqual({ path: '/srv/app/a.txt', content: ID, machine: 'gpu' });
    expect(sent()).toEqual([{ name: 'read_file', args: { path: '/srv/app/a.txt', max_bytes: 500 } }]);
    expect(ran).toEqual([]);
  });

  it('left out or null, means this machine', async () => {
    const { call, ran, sent } = near();
    await call('git_status', { path: 'app' });
    await call('git_status', { path: 'app', machine: null });
    expect(ran).toEqual(Array(2).fill('git_status {"path":"app"}'));
    expect(sent()).toEqual([]);
  });

  it('never means this machine when the other one cannot be reached', async () => {
    const { gpu, call, ran } = near();
    await gpu.cut();
    const { text, isError, _meta } = await call('write_file', {
      path: '/srv/a',
      content: 'x',
      machine: 'gpu',
    });
    expect(isError).toBe(true);
    expect(text).toContain('MACHINE_UNREACHABLE');
    expect(_meta?.error).toMatchObject({ machine: 'gpu', sent: 'not_sent' });
    expect(ran).toEqual([]);
  });

  it.each([
    ['an unknown machine', 'git_status', { path: '/a', machine: 'box' }, 'MACHINE_NOT_FOUND'],
    ['a machine that is no name', 'git_status', { path: '/a', machine: 3 }, 'machine must be a name (got 3)'],
    ['no path', 'git_status', { machine: 'gpu' }, 'needs path: the active project is of this one'],
    ['a relative path', 'list_files', { path: 'src', machine: 'gpu' }, 'path is relative'],
    ['a relative path of a list', 'list_tasks', { path: 'src', machine: 'gpu' }, 'path is relative'],
    ['no folder of a program', 'spawn', { command: 'ls', machine: 'gpu' }, 'needs cwd'],
    ['a relative source', 'copy_to', { pid: `gpu/${PID}`, source: 'a' }, 'source is relative'],
    [
      'another machine than that of the id',
      'start_task',
      { prompt: 'x', continue_from: `pod/${ID}`, machine: 'gpu' },
      'machine is gpu, but continue_from is of pod',
    ],
  ])('is refused for %s', async (_what, tool, args, words) => {
    const { call, ran, sent } = near();
    expect((await call(tool, args)).text).toContain(words);
    expect([ran, sent()]).toEqual([[], []]);
  });

  it('reaches no machine from inside a task', async () => {
    const { call, sent } = near({ isInside: true });
    expect((await call('read_file', { path: '/a', machine: 'gpu' })).text).toContain('INSIDE_TASK');
    expect(sent()).toEqual([]);
  });
});

it('says how to call again where it is not known whether a call arrived', async () => {
  const { gpu, call, sent } = near();
  gpu.answer = () => {
    throw unreachable('gpu', 'unknown', 'Connection reset', 0);
  };
  const { text } = await call('spawn', { machine: 'gpu', command: 'true', cwd: '/a' });
  const [first] = sent();
  const { request_id: id } = z.object({ request_id: z.string() }).parse(first?.args);
  expect(text).toContain(`Call spawn again with request_id "${id}": then it is done once.`);
});

it('keeps a program on another machine while the line is cut, unless it is to end with it', async () => {
  const { call, sent } = near();
  await call('spawn', { command: 'make', cwd: '/srv/app', machine: 'gpu' });
  await call('spawn', { command: 'make', cwd: '/srv/app', keep: false, machine: 'gpu' });
  expect(sent().map(({ args }) => 'keep' in args && args.keep)).toEqual([true, false]);
});

describe('an id of another machine', () => {
  it('sends the call there, with the id as it is there, and comes back with the machine', async () => {
    const { gpu, call, sent, ran } = near();
    gpu.answer = (_name, args) => ({ ...args, status: 'running' });
    expect((await call('stdout', { pid: `gpu/${PID}` })).data).toMatchObject({ pid: `gpu/${PID}` });
    expect((await call('finish_task', { task_id: `gpu/${ID}`, action: 'merge' })).data).toMatchObject({
      task_id: `gpu/${ID}`,
    });
    expect(sent().map(({ args }) => args)).toEqual([
      { pid: PID },
      { task_id: ID, action: 'merge', request_id: expect.stringMatching(/^[0-9a-f]{32}$/) },
    ]);
    expect(ran).toEqual([]);
  });

  it('is prefixed in lists and in data of errors, and not in what an agent asks for', async () => {
    const { gpu, call } = near();
    const decision = {
      decision_id: 'dec_1',
      request: { task_id: ID },
      expires_at: '2026-03-01T10:00:00.000Z',
    };
    gpu.answer = () => ({ tasks: [{ task_id: ID, decisions: [decision] }] });
    expect((await call('list_tasks', { machine: 'gpu' })).data).toEqual({
      tasks: [{ task_id: `gpu/${ID}`, decisions: [decision] }],
      machine: 'gpu',
    });
    gpu.answer = () => {
      throw new BridgeError('TASK_ALREADY_RUNNING', `It has ${ID}.`, [{ do: 'wait', task: ID }], {
        data: { taskId: ID },
      });
    };
    const refused = await call('start_task', { prompt: 'x', path: '/srv/app', machine: 'gpu' });
    expect(refused._meta?.error).toMatchObject({ taskId: `gpu/${ID}` });
    expect(refused.text).toContain(`wait_for_task gpu/${ID}`);
  });

  it('may be bare where only the other machine knows the task', async () => {
    const { gpu, call, ran, sent } = near();
    gpu.answer = () => ({ task_id: ID, status: 'completed' });
    expect((await call('get_task_result', { task_id: ID })).data).toMatchObject({ task_id: `gpu/${ID}` });
    expect(ran).toHaveLength(1);
    expect(sent()).toEqual([{ name: 'get_task_result', args: { task_id: ID } }]);
  });

  it('is not bare where a call changes something: nothing is sent, and the whole id is named', async () => {
    const { call, sent } = near();
    for (const [tool, args] of [
      ['finish_task', { task_id: ID, action: 'merge' }],
      ['verify_task', { task_id: ID }],
    ] as const)
      expect((await call(tool, args)).text).toContain(`name the machine: gpu/${ID}.`);
    expect(sent()).toEqual([]);
  });

  it('is left out of an error where it only looks like one', async () => {
    const { gpu, call } = near();
    gpu.answer = () => {
      throw new BridgeError('TASK_ALREADY_RUNNING', 'It runs.', [{ do: 'answer', task: ` ${ID}` }], {
        data: { taskId: ` ${ID}`, other: `pod/${ID}`, kind: 'queue' },
      });
    };
    const { text, _meta } = await call('start_task', { prompt: 'x', path: '/srv/app', machine: 'gpu' });
    expect(text).not.toContain(ID);
    expect(_meta?.error).toEqual({ errorCode: 'TASK_ALREADY_RUNNING', kind: 'queue' });
  });
});

describe('a start on another machine', () => {
  const started = () => ({ task_id: ID, status: 'running', decisions: [], cursor: `${ID}:4`, message: 'ok' });

  it('gets an id and a cursor that the tools here take, and is followed by a client that follows tasks', async () => {
    const followed: string[] = [];
    const follower = { follows: () => false, follow: (id: string) => void followed.push(id) };
    const { gpu, call } = near({ follower });
    gpu.answer = started;
    const { data } = await call('start_task', { prompt: 'x', path: '~/app', machine: 'gpu' });
    expect(data).toMatchObject({ task_id: `gpu/${ID}`, cursor: `gpu/${ID}:4`, machine: 'gpu' });
    expect(followed).toEqual([`gpu/${ID}`]);
  });

  it('takes along the rows that deny or ask and the modes that are allowed here', async () => {
    const { gpu, call, sent } = near({
      rules: ROWS,
      modes: { allowed_permission_modes: ['auto', 'cautious'] },
    });
    gpu.answer = started;
    await call('start_task', { prompt: 'x', path: '/srv/app', machine: 'gpu' });
    expect(sent()[0]?.args).toMatchObject({ limits: { rules: [ROWS[0]], modes: ['auto', 'cautious'] } });
    const { text } = await call('start_task', { prompt: 'x', path: '/a', mode: 'sandboxed', machine: 'gpu' });
    expect(text).toContain("permission_mode 'sandboxed' is not allowed in tasks on gpu, too.");
    expect(sent()).toHaveLength(1);
  });

  it('sends nothing of the settings where they say nothing', async () => {
    const { gpu, call, sent } = near();
    gpu.answer = started;
    await call('start_task', { prompt: 'x', path: '/srv/app', machine: 'gpu', request_id: 'mine' });
    expect(sent()[0]?.args).toEqual({ prompt: 'x', path: '/srv/app', request_id: 'mine' });
  });

  it('goes on where the task is that it continues, in its folder', async () => {
    const { gpu, call, sent } = near({ modes: { default_permission_mode: 'cautious' } });
    gpu.answer = started;
    await call('start_task', { prompt: 'x', continue_from: `gpu/${ID}` });
    await call('start_task', { prompt: 'x', path: '/srv/app', permission_mode: null, machine: 'gpu' });
    expect(sent().map(({ args }) => args)).toEqual([
      { prompt: 'x', continue_from: ID, request_id: expect.any(String) },
      { prompt: 'x', path: '/srv/app', permission_mode: 'cautious', request_id: expect.any(String) },
    ]);
  });

  it('is sent again after a lost answer, as all that is done once is, and nothing else', async () => {
    const { call, gpu } = near();
    await call('start_task', { prompt: 'x', path: '/a', machine: 'gpu' });
    await call('git_log', { path: '/a', machine: 'gpu' });
    await call('create_directory', { path: '/a', machine: 'gpu' });
    await call('stdin', { pid: `gpu/${PID}`, text: 'x' });
    await call('kill', { pid: `gpu/${PID}` });
    expect(gpu.toolCalls.map(({ request }) => request.repeats)).toEqual([true, true, true, false, false]);
  });
});
