import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { serverEntry, startBridge, type TestBridge } from '../../harness/start-bridge.js';
import type { TaskClient } from '../../harness/task-client.js';

/** The environment of a program that the task runs. */
async function markOf(bridge: TestBridge, taskId: string): Promise<Record<string, string>> {
  return { CLAUDE_CODE_BRIDGE_MARK: (await bridge.record(taskId)).process_mark };
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
    const task = await bridge.start({ prompt: endless });
    const server = await inside(bridge, task);
    expect(await server.mcp.listTools()).toEqual([]);
    expect(await server.mcp.listResources()).toEqual([]);
    expect(await server.mcp.listPrompts()).toEqual([]);
    await bridge.call('kill_task', { task_id: task });
  });

  it('offers what only reads where the user lets it look', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const task = await bridge.start({ prompt: endless });
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

  it('is recognised by the processes above it when its mark was removed from the environment', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const task = await bridge.start({ prompt: endless });
    const command: [string, ...string[]] = [
      '/bin/sh',
      '-c',
      'env -u CLAUDE_CODE_BRIDGE_MARK "$0" "$1"; :',
      process.execPath,
      serverEntry,
    ];
    const env = { ...(await markOf(bridge, task)), MCP_INSIDE_TASKS: 'look' };
    const server = await bridge.another('modern', { command, env });
    expect(await server.refusal('kill_task', { task_id: task })).toMatch(/^INSIDE_TASK/);
    expect(await server.refusal('write_file', { path: join(bridge.project, 'x'), content: '' })).toMatch(
      /^INSIDE_TASK/,
    );
    await bridge.call('kill_task', { task_id: task });
  });

  it('commands that act on tasks are refused there, too', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const task = await bridge.start({ prompt: endless });
    const env = await markOf(bridge, task);
    for (const args of [
      ['tasks', 'kill', task],
      ['tasks', 'prune'],
      ['tasks', 'answer', task, 'allow'],
      ['tasks', 'finish', task, 'discard'],
      ['run', 'Work.'],
      ['attach', task],
    ])
      expect((await bridge.command(args, { env })).err).toContain('INSIDE_TASK');
    expect((await bridge.command(['tasks', 'list'], { env })).out).toContain(task.slice(-6));
    await bridge.call('kill_task', { task_id: task });
  });
});
