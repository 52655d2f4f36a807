import { describe, expect, it } from 'vitest';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { windowOf } from '../../harness/scripted-editor.js';
import { startBridge } from '../../harness/start-bridge.js';

const TOOLS = ['close_terminal', 'create_terminal', 'execute', 'list_terminals', 'read_terminal'];

describe('terminals of VS Code', () => {
  it('are not offered to a server inside a task, whatever the settings say', async () => {
    const bridge = await startBridge({
      claude: scriptedAgent,
      env: { MCP_TOOLSETS: 'terminal,project,tasks' },
    });
    const editor = await windowOf(bridge);
    const task = await bridge.start({ prompt: 'AGENT: never-exits' });
    const { process_mark: mark } = await bridge.record(task);
    const env = { CLAUDE_CODE_BRIDGE_MARK: mark, MCP_INSIDE_TASKS: 'look' };
    const inside = await bridge.another('modern', { env });
    const tools = await inside.mcp.listTools();
    expect(tools).toContain('list_tasks');
    expect(tools.filter((name) => TOOLS.includes(name))).toEqual([]);
    await expect(inside.call('execute', { command: 'npm test', path: bridge.project })).rejects.toThrow();
    expect(editor.clients).toEqual([]);
    await bridge.call('kill_task', { task_id: task });
  });
});
