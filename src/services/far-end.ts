import { hostname } from 'node:os';
import { VERSION } from '../base/package.js';
import { serveLink } from '../machines/serve-link.js';
import type { ServerParts } from '../mcp/server.js';
import { stateId } from '../store/state-id.js';
import { ownIdentity } from '../store/process-identity.js';
import type { BridgeOptions } from './open-state.js';
import type { ServerServices } from './server-services.js';

/**
 * The server as a bridge on another machine uses it: with both forms of each answer, and without forms, pages and followed tasks, which
 * that one shows to its own client. Throws STATE_UNUSABLE.
 */
export async function farEnd<Services>(
  parts: ServerParts<Services>,
  services: ServerServices,
  { homeDir: home, logger, unusable }: BridgeOptions,
): Promise<ServerParts<Services>> {
  const { tasks, receipts, changes } = services.offered;
  const { stateDir, git } = await services.taskServices();
  const [state_id, { machine_id = null }] = await Promise.all([stateId(stateDir.path), ownIdentity()]);
  const identity = { machine_id, state_id, version: VERSION, home, hostname: hostname() };
  const { followed: _followed, clientFolders: _folders, ...served } = parts;
  const peer = serveLink({
    ...{ identity, tasks, receipts, changes, readPatch: git.readPatch, unusable, logger },
    openPage: async (page) => {
      if (!(await services.boardPages()).open(page)) page.refuse('too many pages of the board are open');
    },
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
