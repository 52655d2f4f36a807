import { connect } from './mcp-clients.js';
import { serverEntry } from './start-bridge.js';
import { TaskClient } from './task-client.js';
import type { VscodeServer } from './vscode-server.js';

/** A server with the toolset `terminal` for the windows of an editor; the caller closes its client. */
export async function editorToolset(server: VscodeServer): Promise<TaskClient> {
  const env = {
    HOME: server.home,
    PATH: process.env['PATH'] ?? '',
    MCP_STATE_DIR: server.statePath,
    MCP_ALLOWED_ROOTS: server.home,
    MCP_TOOLSETS: 'terminal,project',
  };
  const command = { command: process.execPath, args: [serverEntry], cwd: server.project, env };
  return new TaskClient(await connect('modern', command));
}
