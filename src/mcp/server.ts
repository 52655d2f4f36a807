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
import type { ClientFolders } from './client-folders.js';
import { clientIn, declaresTasks, TASKS_EXTENSION, type ClientInfo } from './client.js';
import { servePeer, type PeerHost } from './peer.js';
import { completePrompt, servePrompts, type PromptHost } from './serve-prompts.js';
import { completeVariable, ResourceUpdates, serveResources, type ResourcesHost } from './serve-resources.js';
import { quietly, serveTools, type ToolsHost } from './serve-tools.js';

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
  /** Served besides, to a bridge on another machine. */
  readonly peer?: PeerHost;
  readonly clock: Clock;
}

/** The protocol's own limit for one completion. */
const MAX_COMPLETIONS = 100;

/** Claude Code asks again in the older era when the first answer took more than 2.7 s (measured with 2.1.330); Tasks are gone then. */
const FELL_BACK =
  'Claude Code speaks the older protocol here, so it is not called when a task ends: it is older than 2.1.330, or this server started too slowly. /mcp reconnect tries again.';

/**
 * Serves one connection over `wire` until the wire closes or the result is closed. The SDK answers `subscriptions/listen` before any
 * server sees it, and `server/discover` with one set of capabilities for all clients; it has hooks for neither. So each message is read
 * on its way.
 */
export function serveConnection<Services>(
  parts: ServerParts<Services>,
  wire: Transport,
): { close(): Promise<void> } {
  const { logger } = parts;
  let current: Server | undefined;
  const updates = new ResourceUpdates(parts, parts.clock, (uri) => {
    if (current === undefined) return;
    quietly(current.sendResourceUpdated({ uri }), `The change of ${uri} could not be sent`, logger);
  });
  const createServer = ({ era }: McpRequestContext): Server => {
    current = newServer(parts, updates);
    if (era === 'legacy') parts.clientFolders?.connect(current);
    current.onclose = () => updates.dispose();
    return current;
  };
  const received = receiver(parts, updates);
  const transport: Transport = {
    start: async () => {
      wire.onmessage = (message, extra) => {
        received.message(message);
        transport.onmessage?.(message, extra);
      };
      wire.onerror = (error) => transport.onerror?.(error);
      wire.onclose = () => transport.onclose?.();
      await wire.start();
    },
    send: async (message, options) => {
      await wire.send(received.answer(message), options);
      follow(message, parts, updates);
    },
    close: () => wire.close(),
  };
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
    jsonSchemaValidator: {
      getValidator: () => {
        throw new Error('This server validates with zod alone.');
      },
    },
  });
  serveTools(server, parts);
  serveResources(server, parts, updates);
  servePrompts(server, parts);
  if (parts.peer !== undefined) servePeer(server, parts.peer, parts.logger);
  server.setRequestHandler('completion/complete', async ({ params: { ref, argument } }) => {
    const all =
      ref.type === 'ref/prompt'
        ? await completePrompt(parts, ref.name, argument)
        : await completeVariable(parts, ref.uri, argument);
    const values = all.slice(0, MAX_COMPLETIONS);
    return { completion: { values, total: all.length, hasMore: all.length > values.length } };
  });
  return server;
}

/** What the client's messages tell beside what the SDK does with them, and the answers that follow from it. */
function receiver<Services>(
  { logger, followed, onClient }: ServerParts<Services>,
  updates: ResourceUpdates<Services>,
) {
  let isConnected = false;
  /** The ids of `server/discover` that declare Tasks: no other client is offered them. */
  const offered = new Set<string | number>();
  const message = (message: JSONRPCMessage): void => {
    const method = 'method' in message ? message.method : undefined;
    const ended = method === 'notifications/cancelled' ? cancelled.safeParse(message).data : undefined;
    if (ended !== undefined) updates.unsubscribe(ownerOf(ended.params.requestId));
    const isDiscover = 'method' in message && 'id' in message && message.method === 'server/discover';
    if (isDiscover && followed !== undefined && declaresTasks(message.params?._meta)) offered.add(message.id);
    const client = isConnected ? undefined : clientIn(message);
    if (client === undefined) return;
    isConnected = true;
    logger.info(`Client connected: ${client.name} ${client.version}`);
    if (followed !== undefined && client.name === 'claude-code' && method === 'initialize')
      logger.warn(FELL_BACK, { since_start_ms: Math.round(performance.now()) });
    onClient?.(client);
  };
  const answer = (message: JSONRPCMessage): JSONRPCMessage => {
    if (!('result' in message) || !offered.delete(message.id)) return message;
    const { data } = discovered.safeParse(message.result);
    if (data === undefined) return message;
    const { capabilities } = data;
    const extensions = { ...capabilities.extensions, [TASKS_EXTENSION]: {} };
    const words = [data.instructions, followed?.instructions].filter((text) => text !== undefined);
    const result = { ...data, capabilities: { ...capabilities, extensions }, instructions: words.join('\n') };
    return { ...message, result };
  };
  return { message, answer };
}

/** Follows the resources that a `subscriptions/listen` was granted, as its acknowledgement names them. */
function follow<Services>(
  message: JSONRPCMessage,
  { logger }: ServerParts<Services>,
  updates: ResourceUpdates<Services>,
): void {
  if (!('method' in message) || message.method !== 'notifications/subscriptions/acknowledged') return;
  const params = acknowledged.safeParse(message).data?.params;
  for (const uri of params?.notifications.resourceSubscriptions ?? []) {
    const fault = updates.subscribe(ownerOf(params?._meta[SUBSCRIPTION_ID_META_KEY]), uri);
    if (fault !== undefined)
      logger.warn('A resource that a client listens to is not followed', { uri, fault });
  }
}

/** Of a request that stays open: `1` and `"1"` are two of them. */
function ownerOf(id: string | number | undefined): string {
  return `listen ${JSON.stringify(id)}`;
}

const requestId = z.union([z.string(), z.number()]);
const cancelled = z.object({ params: z.object({ requestId }) });
const acknowledged = z.object({
  params: z.object({
    notifications: z.object({ resourceSubscriptions: z.array(z.string()).optional() }),
    _meta: z.object({ [SUBSCRIPTION_ID_META_KEY]: requestId }),
  }),
});
const discovered = z.looseObject({
  capabilities: z.looseObject({ extensions: z.record(z.string(), z.unknown()).optional() }),
  instructions: z.string().optional(),
});
