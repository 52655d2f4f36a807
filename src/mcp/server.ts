import {
  Server,
  SUBSCRIPTION_ID_META_KEY,
  type JSONRPCMessage,
  type McpRequestContext,
  type Transport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import type { ClientFolders } from './client-folders.js';
import { clientIn, type ClientInfo } from './client.js';
import { completePrompt, servePrompts, type PromptHost } from './serve-prompts.js';
import {
  completeVariable,
  ResourceUpdates,
  serveResources,
  serveSubscriptions,
  type ResourcesHost,
} from './serve-resources.js';
import { serveTools, type ToolsHost } from './serve-tools.js';
import { TasksDiscovery } from './client-tasks.js';

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
  const { logger } = parts;
  let current: Server | undefined;
  const updates = new ResourceUpdates(parts, parts.clock, (uri) => {
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
  const received = (message: JSONRPCMessage): void => {
    const owner = endedOwner(message);
    if (owner !== undefined) updates.unsubscribe(owner);
    discovery?.received(message);
    const client = isConnected ? undefined : clientIn(message);
    if (client === undefined) return;
    isConnected = true;
    logger.info(`Client connected: ${client.name} ${client.version}`);
    if (discovery !== undefined && client.name === 'claude-code' && isInitialize(message))
      logger.warn(FELL_BACK, { since_start_ms: Math.round(performance.now()) });
    parts.onClient?.(client);
  };
  const granted = (message: JSONRPCMessage): void => {
    const { owner, uris } = grantedUris(message) ?? { owner: '', uris: [] };
    for (const uri of uris) {
      const fault = updates.subscribe(owner, uri);
      if (fault !== undefined)
        logger.warn('A resource that a client listens to is not followed', { uri, fault });
    }
  };
  const transport = heard(wire, received, async (message, options) => {
    await wire.send(discovery?.sent(message) ?? message, options);
    granted(message);
  });
  return serveStdio(createServer, {
    transport,
    onerror: (error) => logger.debug('The protocol reported an error', { error: error.message }),
  });
}

/**
 * `wire`, each message of which is `received` before the SDK has it. The SDK answers `subscriptions/listen` before any server sees
 * it, and has no hook for it: what it granted shows in its acknowledgement, and the end in the client's cancellation.
 */
function heard(
  wire: Transport,
  received: (message: JSONRPCMessage) => void,
  send: Transport['send'],
): Transport {
  const transport: Transport = {
    start: async () => {
      wire.onmessage = (message, extra) => {
        received(message);
        transport.onmessage?.(message, extra);
      };
      wire.onerror = (error) => transport.onerror?.(error);
      wire.onclose = () => transport.onclose?.();
      await wire.start();
    },
    send,
    close: () => wire.close(),
  };
  return transport;
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

const requestId = z.union([z.string(), z.number()]);

const acknowledged = z.object({
  params: z.object({
    notifications: z.object({ resourceSubscriptions: z.array(z.string()).optional() }),
    _meta: z.object({ [SUBSCRIPTION_ID_META_KEY]: requestId }),
  }),
});

function grantedUris(message: JSONRPCMessage): { owner: string; uris: readonly string[] } | undefined {
  if (!('method' in message) || message.method !== 'notifications/subscriptions/acknowledged')
    return undefined;
  const { data } = acknowledged.safeParse(message);
  if (data === undefined) return undefined;
  const { notifications, _meta } = data.params;
  return { owner: ownerOf(_meta[SUBSCRIPTION_ID_META_KEY]), uris: notifications.resourceSubscriptions ?? [] };
}

const cancelled = z.object({ params: z.object({ requestId }) });

function endedOwner(message: JSONRPCMessage): string | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  const { data } = cancelled.safeParse(message);
  return data === undefined ? undefined : ownerOf(data.params.requestId);
}

/** `1` and `"1"` are two requests. */
function ownerOf(id: string | number): string {
  return `listen ${JSON.stringify(id)}`;
}
