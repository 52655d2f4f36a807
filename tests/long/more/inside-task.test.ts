import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { taskRecordSchema, type TaskRecord } from '../../../src/tasks/task.js';
import { agentNamedClaude, scriptedAgent } from '../../harness/scripted-agent.js';
import { serverEntry, startBridge, type TestBridge } from '../../harness/start-bridge.js';
import type { TaskClient } from '../../harness/task-client.js';
import { createWorkplace } from '../../harness/workplace.js';

const run = promisify(execFile);

async function recordOf(bridge: TestBridge, taskId: string): Promise<TaskRecord> {
  const path = join(bridge.workplace.stateDir, 'tasks', taskId, 'record.json');
  return taskRecordSchema.parse(JSON.parse(await readFile(path, 'utf8')));
}

/** The environment of a program that the task runs. */
async function markOf(bridge: TestBridge, taskId: string): Promise<Record<string, string>> {
  return { CLAUDE_CODE_BRIDGE_MARK: (await recordOf(bridge, taskId)).process_mark };
}

/** A server as Claude Code starts it inside the task. */
async function inside(bridge: TestBridge, taskId: string, allows?: string): Promise<TaskClient> {
  const env = {
    ...(await markOf(bridge, taskId)),
    ...(allows !== undefined && { MCP_INSIDE_TASKS: allows }),
  };
  return bridge.another('modern', { env });
}

const endless = 'AGENT: never-exits';

describe('a server inside a task', () => {
  it('offers nothing by default', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const task = await bridge.start({ prompt: endless, path: bridge.project });
    const server = await inside(bridge, task);
    expect(await server.mcp.listTools()).toEqual([]);
    expect(await server.mcp.listResources()).toEqual([]);
    expect(await server.mcp.listPrompts()).toEqual([]);
    await bridge.call('kill_task', { task_id: task });
  });

  it('offers what only reads where the user lets it look', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const task = await bridge.start({ prompt: endless, path: bridge.project });
    const server = await inside(bridge, task, 'look');
    const tools = await server.mcp.listTools();
    expect(tools).toContain('list_tasks');
    expect(tools).toContain('read_file');
    for (const name of [
      'start_task',
      'kill_task',
      'respond_to_task',
      'message_task',
      'write_file',
      'finish_task',
    ])
      expect(tools).not.toContain(name);
    expect(JSON.stringify(await server.call('list_tasks'))).toContain(task);
    await bridge.call('kill_task', { task_id: task });
  });

  it('starts tasks where the user lets it, in no wider mode, and they end with the task around it', async () => {
    const workplace = await createWorkplace();
    const claude = await agentNamedClaude(workplace);
    const bridge = await startBridge({ claude, workplace, projects: ['app', 'lib', 'docs'] });
    const [app, lib, docs] = bridge.projects;
    const parent = await bridge.start({ prompt: endless, path: app, permission_mode: 'cautious' });
    const other = await bridge.start({ prompt: endless, path: docs });
    const server = await inside(bridge, parent, 'start');
    expect(
      await server.refusal('start_task', { prompt: endless, path: lib, permission_mode: 'auto' }),
    ).toMatch(/^INSIDE_TASK: .*wider permission mode than its own, cautious/);
    const started = await server.call('start_task', { prompt: endless, path: lib });
    const child = String(started['task_id']);
    expect(started['message']).toContain(`It is ended when this task, ${parent}, ends`);
    expect(await recordOf(bridge, child)).toMatchObject({
      permission_mode: 'cautious',
      parent: { task_id: parent, depth: 1 },
    });
    for (const [tool, args] of [
      ['kill_task', {}],
      ['message_task', { text: 'Stop.' }],
      ['finish_task', { action: 'discard' }],
    ] as const) {
      const refused = await server.refusal(tool, { task_id: other, ...args });
      expect(refused).toMatch(/^INSIDE_TASK: .*did not start/);
    }
    expect(await server.mcp.listTools()).not.toContain('respond_to_task');
    await bridge.call('kill_task', { task_id: parent });
    expect(await bridge.end(child)).toMatchObject({ status: 'killed' });
    expect((await bridge.status(child)).reason).toBe(
      `The task inside which it was started, ${parent}, ended.`,
    );
    expect(await bridge.status(other)).toMatchObject({ status: 'running' });
    await bridge.call('kill_task', { task_id: other });
  });

  it('ends and messages what it started, and goes no deeper than two tasks', async () => {
    const bridge = await startBridge({ claude: scriptedAgent, projects: ['a', 'b', 'c', 'd'] });
    const [a, b, c, d] = bridge.projects;
    const first = await bridge.start({ prompt: endless, path: a });
    const outer = await inside(bridge, first, 'start');
    const second = await outer.start({ prompt: endless, path: b });
    const inner = await inside(bridge, second, 'start');
    const third = await inner.start({ prompt: endless, path: c });
    expect(await recordOf(bridge, third)).toMatchObject({ parent: { task_id: second, depth: 2 } });
    const innermost = await inside(bridge, third, 'start');
    expect(await innermost.refusal('start_task', { prompt: endless, path: d })).toMatch(
      /^INSIDE_TASK: .*more than 2 levels/,
    );
    expect(await inner.refusal('kill_task', { task_id: second })).toMatch(/^INSIDE_TASK/);
    expect(await inner.call('kill_task', { task_id: third })).toMatchObject({ status: 'killed' });
    await bridge.call('kill_task', { task_id: first });
    expect(await bridge.end(second)).toMatchObject({ status: 'killed' });
  });

  it('is recognised by the processes above it when its mark was removed from the environment', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const task = await bridge.start({ prompt: endless, path: bridge.project });
    const command: [string, ...string[]] = [
      '/bin/sh',
      '-c',
      'env -u CLAUDE_CODE_BRIDGE_MARK "$0" "$1"; :',
      process.execPath,
      serverEntry,
    ];
    const env = { ...(await markOf(bridge, task)), MCP_INSIDE_TASKS: 'start' };
    const server = await bridge.another('modern', { command, env });
    expect(await server.refusal('kill_task', { task_id: task })).toMatch(/^INSIDE_TASK: .*mark was removed/);
    expect(await server.refusal('write_file', { path: join(bridge.project, 'x'), content: '' })).toMatch(
      /^INSIDE_TASK/,
    );
    await bridge.call('kill_task', { task_id: task });
  });

  it('commands that act on tasks are refused there, too', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const task = await bridge.start({ prompt: endless, path: bridge.project });
    const env = { ...bridge.env, ...(await markOf(bridge, task)) };
    for (const args of [
      ['tasks', 'kill', task],
      ['tasks', 'prune'],
      ['tasks', 'answer', task, 'allow'],
      ['tasks', 'finish', task, 'discard'],
      ['run', 'Work.'],
      ['attach', task],
    ])
      await expect(run(process.execPath, [serverEntry, ...args], { env })).rejects.toThrow(/INSIDE_TASK/);
    expect((await run(process.execPath, [serverEntry, 'tasks', 'list'], { env })).stdout).toContain(
      task.slice(-6),
    );
    await bridge.call('kill_task', { task_id: task });
  });
});
