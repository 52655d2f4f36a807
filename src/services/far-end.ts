import { hostname } from 'node:os';
import { join } from 'node:path';
import { VERSION } from '../base/package.js';
import { act } from '../board/act.js';
import { thereAction } from '../board/far-acts.js';
import { serveLink } from '../machines/serve-link.js';
import type { ServerParts } from '../mcp/server.js';
import { stateId } from '../store/state-id.js';
import { ownIdentity } from '../store/process-identity.js';
import type { BridgeOptions } from './open-state.js';
import { pageServices } from './page-services.js';
import type { ServerServices } from './server-services.js';

/**
 * The server as a bridge on another machine uses it: with both forms of each answer, and without forms, pages and followed tasks, which
 * that one shows to its own client. Throws STATE_UNUSABLE.
 */
export async function farEnd<Services>(
  parts: ServerParts<Services>,
  services: ServerServices,
  options: BridgeOptions,
): Promise<ServerParts<Services>> {
  const { tasks, receipts, changes } = services.offered;
  const { homeDir: home, logger, unusable } = options;
  const taskServices = await services.taskServices();
  const { stateDir, git } = taskServices;
  // Of this machine alone: the line is the authority of what comes over it.
  const pages = pageServices(options, taskServices);
  const [state_id, { machine_id = null }] = await Promise.all([stateId(stateDir.path), ownIdentity()]);
  const identity = { machine_id, state_id, version: VERSION, home, hostname: hostname() };
  const { followed: _followed, clientFolders: _folders, ...served } = parts;
  const peer = serveLink({
    ...{ identity, tasks, receipts, changes, readPatch: git.readPatch, unusable, logger },
    promptOf: (record) => pages.promptOf(record),
    act: (action, by) => act(thereAction(action), by, pages),
    taskFolder: (taskId) => join(stateDir.tasksDir, taskId),
  });
  return {
    ...served,
    tools: parts.tools.map((tool) =>
      tool.listing.annotations.readOnlyHint
        ? tool
        : { ...tool, run: (...call) => peer.finishing(tool.run(...call)) },
    ),
    instructions: '',
    answers: 'both',
    showsForms: false,
    peer,
  };
}
