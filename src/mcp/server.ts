import {
  Server,
  type JSONRPCMessage,
  type McpRequestContext,
  type Transport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import type { ClientFolders } from './client-folders.js';
import { clientIn, type ClientInfo } from './client.js';
import { ListeningTransport } from './wire/listening-transport.js';
import { ResourceUpdates } from './resource-updates.js';
import { completePrompt, servePrompts, type PromptHost } from './serve-prompts.js';
import {
  completeVariable,
  serveResources,
  serveSubscriptions,
  type ResourcesHost,
} from './serve-resources.js';
import { serveSkills } from './serve-skills.js';
import { serveTools, type ToolsHost } from './serve-tools.js';
import { TasksDiscovery } from './serve-client-tasks.js';

/** All that a connection serves. One such object serves any number of connections, in both eras of the protocol. */
export interface ServerParts<Services>
  extends ToolsHost<Services>, ResourcesHost<Services>, PromptHost<Services> {
  /** Repeated in every answer of the modern era. */
  readonly identity: {
    readonly name: string;
    readonly title: string;
    readonly version: string;
    readonly icons?: { readonly src: string; readonly mimeType: string; readonly sizes: string[] }[];
  };
  /** What the model reads once about the whole server. */
  readonly instructions: string;
  /** Is connected to each client that can be asked. */
  readonly clientFolders?: ClientFolders;
  /** Called once, as soon as the client says who it is. */
  readonly onClient?: (client: ClientInfo) => void;
  readonly clock: Clock;
}

/** The protocol's own limit for one completion. */
const MAX_COMPLETIONS = 100;

/** Claude Code asks again in the older era when the first answer took more than 2.7 s (measured with 2.1.330); Tasks are gone then. */
const FELL_BACK =
  'Claude Code speaks the older protocol here, so it is not called when a task ends: it is older than 2.1.330, or this server started too slowly. /mcp reconnect tries again.';

/** Serves one connection over `wire` until the wire closes or the result is closed. */
export function serveConnection<Services>(
  parts: ServerParts<Services>,
  wire: Transport,
): { close(): Promise<void> } {
  const { resources, services, clock, logger } = parts;
  let current: Server | undefined;
  const updates = new ResourceUpdates(resources, services, clock, (uri) => {
    void current?.sendResourceUpdated({ uri }).catch((error: unknown) => {
      logger.debug('A resource update could not be sent', { uri, error: messageOf(error) });
    });
  });
  const createServer = ({ era }: McpRequestContext): Server => {
    current = newServer(parts, updates);
    if (era === 'legacy') parts.clientFolders?.connect(current);
    current.onclose = () => updates.dispose();
    return current;
  };
  let isConnected = false;
  const discovery =
    parts.followed === undefined ? undefined : new TasksDiscovery(parts.followed.instructions);
  const transport = new ListeningTransport(wire, {
    sent: (message) => discovery?.sent(message) ?? message,
    received: (message) => {
      discovery?.received(message);
      const client = isConnected ? undefined : clientIn(message);
      if (client === undefined) return;
      isConnected = true;
      logger.info(`Client connected: ${client.name} ${client.version}`);
      if (discovery !== undefined && client.name === 'claude-code' && isInitialize(message))
        logger.warn(FELL_BACK, { since_start_ms: Math.round(performance.now()) });
      parts.onClient?.(client);
    },
    started: (owner, uris) => {
      for (const uri of uris) {
        const outcome = updates.subscribe(owner, uri);
        if (outcome !== 'following')
          logger.warn('A resource that a client listens to is not followed', { uri, outcome });
      }
    },
    ended: (owner) => updates.unsubscribe(owner),
  });
  return serveStdio(createServer, {
    transport,
    onerror: (error) => logger.debug('The protocol reported an error', { error: error.message }),
  });
}

/** One instance for one connection (or one probe) of either era. */
function newServer<Services>(parts: ServerParts<Services>, updates: ResourceUpdates<Services>): Server {
  const server = new Server(parts.identity, {
    instructions: parts.instructions,
    capabilities: {
      tools: {},
      resources: { subscribe: true, listChanged: true },
      prompts: {},
      completions: {},
    },
    // Nothing here needs one; the default one costs a fifth of the start.
    jsonSchemaValidator: { getValidator: noValidator },
  });
  serveTools(server, parts);
  serveResources(server, parts);
  serveSubscriptions(server, updates, parts);
  serveSkills(server, parts);
  servePrompts(server, parts);
  serveCompletions(server, parts);
  return server;
}

function isInitialize(message: JSONRPCMessage): boolean {
  return 'method' in message && message.method === 'initialize';
}

function serveCompletions<Services>(server: Server, parts: ServerParts<Services>): void {
  server.setRequestHandler('completion/complete', async ({ params: { ref, argument } }) => {
    const all =
      ref.type === 'ref/prompt'
        ? await completePrompt(parts, ref.name, argument)
        : await completeVariable(parts, ref.uri, argument);
    const values = all.slice(0, MAX_COMPLETIONS);
    return { completion: { values, total: all.length, hasMore: all.length > values.length } };
  });
}

function noValidator(): never {
  throw new Error('This server validates with zod alone.');
}
