// The specification of terminals in an editor: "Tools", with an editor that speaks the protocol of the extension and no more.
import { expect, test } from 'vitest';
import { scriptedAgent } from '../harness/scripted-agent.js';
import { windowOf } from '../harness/scripted-editor.js';
import { startBridge } from '../harness/start-bridge.js';

test('terminals of VS Code are opened, run commands, show what runs, and are gone on with by another server', async () => {
  const bridge = await startBridge({ claude: scriptedAgent, env: { MCP_TOOLSETS: 'terminal,project' } });
  await bridge.call('set_active_project', { path: bridge.project });
  expect(await bridge.refusal('execute', { command: 'npm test' })).toMatch(
    /^EDITOR_NOT_FOUND: No window of VS Code /,
  );
  const editor = await windowOf(bridge);
  const ran = await bridge.call('execute', { command: 'npm test' });
  expect(ran).toMatchObject({ state: 'ended', exit_code: 0, text: '2 passed\n' });
  const id = String(ran['terminal_id']);
  expect(editor.terminal(id).facts.cwd).toBe(bridge.project);
  const serves = { terminal_id: id, command: 'serve', timeout_seconds: 1 };
  const running = await bridge.call('execute', serves);
  expect(running).toMatchObject({ state: 'running' });
  await bridge.mcp.close();
  const next = await bridge.another('legacy');
  editor.terminal(id).print('listening\n');
  const args = { terminal_id: id, cursor: running['cursor'] };
  expect(await next.call('read_terminal', args)).toMatchObject({ state: 'busy', text: 'listening\n' });
  await next.call('close_terminal', { terminal_id: id });
  expect(editor.terminals.size).toBe(0);
});
