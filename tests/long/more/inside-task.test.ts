import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { serverEntry, startBridge } from '../../harness/start-bridge.js';

/** A task that goes on until the test is over, and what a program that it runs finds in its environment. */
async function taskWithMark() {
  const bridge = await startBridge({ claude: scriptedAgent, env: { MCP_TOOLSETS: 'all' } });
  onTestFinished(() => bridge.killAll());
  const task = await bridge.agent('never-exits');
  return { bridge, task, env: { CLAUDE_CODE_BRIDGE_MARK: (await bridge.record(task)).process_mark } };
}

describe('a server inside a task', () => {
  it('offers nothing by default', async () => {
    const { bridge, env } = await taskWithMark();
    const server = await bridge.another('modern', { env });
    expect(await server.mcp.listTools()).toEqual([]);
    expect(await server.mcp.listResources()).toEqual([]);
    expect(await server.mcp.listPrompts()).toEqual([]);
  });

  it('offers what only reads where the user lets it look', async () => {
    const { bridge, task, env } = await taskWithMark();
    const server = await bridge.another('modern', {
      env: { ...env, MCP_INSIDE_TASKS: 'look' },
      showsApps: true,
    });
    const tools = await server.mcp.listTools();
    expect(tools).toContain('list_tasks');
    expect(tools).toContain('read_file');
    const acting = [
      ...['start_task', 'kill_task', 'respond_to_task', 'message_task', 'write_file', 'finish_task'],
      ...['board_act', 'board_read', 'open_board', 'create_terminal', 'execute', 'spawn'],
    ];
    expect(tools.filter((name) => acting.includes(name))).toEqual([]);
    const resources = await server.mcp.listResources();
    expect(resources.filter((uri) => uri.startsWith('ui://'))).toEqual([]);
    expect(JSON.stringify(await server.call('list_tasks'))).toContain(task);
  });

  it('is recognised by the processes above it when its mark was removed from the environment', async () => {
    const { bridge, task, env } = await taskWithMark();
    const unmarked = 'env -u CLAUDE_CODE_BRIDGE_MARK "$0" "$1"; :';
    const server = await bridge.another('modern', {
      command: ['/bin/sh', '-c', unmarked, process.execPath, serverEntry],
      env: { ...env, MCP_INSIDE_TASKS: 'look' },
    });
    expect(await server.refusal('kill_task', { task_id: task })).toMatch(/^INSIDE_TASK/);
    expect(await server.refusal('write_file', { path: join(bridge.project, 'x'), content: '' })).toMatch(
      /^INSIDE_TASK/,
    );
  });

  it('commands that act on tasks are refused there, too', async () => {
    const { bridge, task, env } = await taskWithMark();
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
  });
});
