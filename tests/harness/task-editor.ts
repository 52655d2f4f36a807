import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, inject } from 'vitest';
import { discoveryOf } from './board-process.js';
import { endProcess } from './end-process.js';
import type { InstalledVscode } from './find-vscode.js';
import { connect } from './mcp-clients.js';
import { serverEntry, sharedBridge, type BridgeOptions, type TestBridge } from './start-bridge.js';
import { TaskClient } from './task-client.js';
import { sharedEditor, type SharedEditor, type VscodeServer } from './vscode-server.js';

/**
 * A bridge with its project and its board, and an editor that shows that project and the bridge's tasks, for all tests around the call.
 */
export function sharedTaskEditor(
  installed: InstalledVscode,
  browser: () => Promise<Browser>,
  options: BridgeOptions & { readonly settings?: Readonly<Record<string, unknown>> },
): { readonly bridge: () => TestBridge; readonly editor: () => SharedEditor } {
  const bridge = sharedBridge(options);
  beforeAll(async () => {
    const { env, project: cwd } = bridge();
    await promisify(execFile)(process.execPath, [serverEntry, 'board', '--no-open'], { cwd, env });
  });
  afterAll(async () => {
    const discovery = await discoveryOf(bridge()).catch(() => undefined);
    if (discovery !== undefined) await endProcess(discovery.owner.pid);
  });
  const editor = sharedEditor(() => {
    const { env, project, workplace } = bridge();
    return {
      installed,
      env,
      project,
      settings: {
        'claudeTerminalBridge.stateDir': workplace.stateDir,
        'claudeTerminalBridge.bridgeCommand': [process.execPath, serverEntry],
        ...options.settings,
      },
    };
  }, browser);
  return { bridge, editor };
}

/** The editors for suites that take minutes in each: the newest, and all in the long form. */
export function editorsOfForm(): InstalledVscode[] {
  return inject('vscodes').filter(({ isNewest }) => isNewest || process.env['SOAK'] === '1');
}

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
