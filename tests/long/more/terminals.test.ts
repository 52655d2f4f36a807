import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { taskRecordSchema } from '../../../src/tasks/task.js';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { ScriptedEditor } from '../../harness/scripted-editor.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';

const TOOLS = ['close_terminal', 'create_terminal', 'execute', 'list_terminals', 'read_terminal'];

async function openBridge(): Promise<TestBridge> {
  return startBridge({ claude: scriptedAgent, env: { MCP_TOOLSETS: 'terminal,project,tasks' } });
}

async function openWindow(bridge: TestBridge): Promise<ScriptedEditor> {
  const editor = await ScriptedEditor.start({
    statePath: bridge.workplace.stateDir,
    folders: [bridge.project],
    commands: {
      'npm test': (terminal) => {
        terminal.print('2 passed\n');
        terminal.finish(0);
      },
    },
  });
  onTestFinished(() => editor.dispose());
  return editor;
}

describe('terminals of VS Code', () => {
  it('are not offered to a server inside a task, whatever the settings say', async () => {
    const bridge = await openBridge();
    const editor = await openWindow(bridge);
    const task = await bridge.start({ prompt: 'AGENT: never-exits', path: bridge.project });
    const record = join(bridge.workplace.stateDir, 'tasks', task, 'record.json');
    const { process_mark: mark } = taskRecordSchema.parse(JSON.parse(await readFile(record, 'utf8')));
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
