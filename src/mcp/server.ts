import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  SUBSCRIPTION_ID_META_KEY,
  type JSONRPCMessage,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { personAt } from './elicitation.js';
import { callTool, errorText, sentResult, type ToolHost } from './call-tool.js';
import { DirectCalls, type AnswerWire } from './direct-calls.js';
import { nearestName } from './nearest-name.js';
import { MAX_REPLY_BYTES, textFits, wireBytes } from './output-budget.js';
import type { Prompt } from './prompt.js';
import { expandUri, findResource, variableOf, type Resource } from './resource.js';
import { ResourceUpdates } from './resource-updates.js';
import { completePrompt, servePrompts } from './serve-prompts.js';
import { TappedTransport } from './tapped-transport.js';
import type { Tool } from './tool.js';

/** All that a connection serves. One such object serves any number of connections, in both eras of the protocol. */
export interface ServerParts<Services> extends ToolHost<Services> {
  /** Repeated in every answer of the modern era. */
  readonly identity: { readonly name: string; readonly version: string };
  /** What the model is told once about the whole server. */
  readonly instructions: string;
  readonly tools: readonly Tool<Services>[];
  readonly resources: readonly Resource<Services>[];
  readonly prompts: readonly Prompt<Services>[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The protocol's own limit for one completion. */
const MAX_COMPLETIONS = 100;
/** Who follows resources by `resources/subscribe`, which knows no requests that stay open. */
const LEGACY_OWNER = 'connection';

/** Serves one connection over `wire` until the wire closes or the result is closed. */
export function serveConnection<Services>(
  parts: ServerParts<Services>,
  wire: AnswerWire,
): { close(): Promise<void> } {
  let current: Server | undefined;
  const updates = new ResourceUpdates(parts.resources, parts.services, parts.clock, (uri) => {
    void current?.sendResourceUpdated({ uri }).catch((fault: unknown) => {
      parts.logger.debug('A resource update could not be sent', { uri, fault: messageOf(fault) });
    });
  });
  const tools = new Map(parts.tools.map((tool) => [tool.name, tool]));
  const direct = new DirectCalls({ tools, host: parts, wire, server: () => current });
  const tapped = new TappedTransport(wire, {
    sent: (message) => {
      direct.sent(message);
      followListening(message, updates, parts.logger);
    },
    received: (message) => {
      if (direct.takes(message)) return true;
      stopListening(message, updates);
      return false;
    },
    closed: () => {
      direct.closed();
      updates.dispose();
    },
  });
  const handle = serveStdio(() => (current = createServer(parts, tools, updates)), {
    transport: tapped,
    onerror: (fault) => parts.logger.debug('The protocol reported a fault', { fault: fault.message }),
  });
  return {
    close: async () => {
      updates.dispose();
      await handle.close();
    },
  };
}

/** One instance for one connection (or one probe) of either era. */
export function createServer<Services>(
  parts: ServerParts<Services>,
  tools: ReadonlyMap<string, Tool<Services>>,
  updates: ResourceUpdates<Services>,
): Server {
  const server = new Server(parts.identity, {
    instructions: parts.instructions,
    capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {} },
    // Nothing here needs one; the default one costs a fifth of the start.
    jsonSchemaValidator: { getValidator: noValidator },
  });
  serveTools(server, parts, tools);
  serveResources(server, parts);
  servePrompts(server, parts);
  serveCompletions(server, parts);
  server.setRequestHandler('resources/subscribe', ({ params }) => {
    const outcome = updates.subscribe(LEGACY_OWNER, params.uri);
    if (outcome === 'unknown') throw new ResourceNotFoundError(params.uri);
    if (outcome === 'too-many') {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidRequest,
        'Too many resources are followed already; unsubscribe some.',
      );
    }
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    updates.unsubscribe(LEGACY_OWNER, params.uri);
    return {};
  });
  return server;
}

function serveTools<Services>(
  server: Server,
  parts: ServerParts<Services>,
  tools: ReadonlyMap<string, Tool<Services>>,
): void {
  server.setRequestHandler('tools/list', () => ({
    tools: parts.tools.map((tool) => {
      const { inputSchema, outputSchema, ...listing } = tool.listing();
      return {
        ...listing,
        inputSchema: { ...inputSchema, type: 'object' },
        ...(parts.textOnly !== true && { outputSchema: { ...outputSchema, type: 'object' } }),
      };
    }),
  }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = tools.get(params.name);
    if (tool === undefined) {
      const near = nearestName(params.name, [...tools.keys()]);
      const hint = near === undefined ? 'tools/list names all.' : `Did you mean ${near}?`;
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `No tool is named ${JSON.stringify(params.name)}. ${hint}`,
      );
    }
    const person = parts.showsForms === false ? undefined : personAt(server, context, parts.logger);
    const result = await callTool(tool, params.arguments, parts, {
      signal: context.mcpReq.signal,
      progress: progressOf(context, parts.logger),
      person,
      fits: textFits,
    });
    if (person?.needed !== undefined && result.isError !== true) return person.needed;
    return { ...sentResult(result, parts.textOnly ?? false), content: [...result.content] };
  });
}

function progressOf(context: ServerContext, logger: Logger): (text: string) => void {
  const progressToken = context.mcpReq._meta?.progressToken;
  let progress = 0;
  return (message) => {
    if (progressToken === undefined || context.mcpReq.signal.aborted) return;
    progress += 1;
    context.mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, progress, message } })
      .catch((fault: unknown) => logger.debug('Progress could not be sent', { fault: messageOf(fault) }));
  };
}

function serveResources<Services>(server: Server, parts: ServerParts<Services>): void {
  const { resources, services } = parts;
  const facts = ({ name, title, description, mimeType }: Resource<Services>) => ({
    name,
    title,
    description,
    mimeType,
  });
  server.setRequestHandler('resources/list', async () => {
    const fixed = resources
      .filter(({ uri }) => variableOf(uri) === undefined)
      .map((one) => ({ uri: one.uri, ...facts(one) }));
    const behind = resources.map(async (resource) => {
      const listed = (await resource.list?.(services)) ?? [];
      return listed.map(({ variable, title }) => ({
        uri: expandUri(resource.uri, variable),
        name: `${resource.name} ${variable}`,
        title,
        mimeType: resource.mimeType,
      }));
    });
    return { resources: [...fixed, ...(await Promise.all(behind)).flat()] };
  });
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: resources
      .filter(({ uri }) => variableOf(uri) !== undefined)
      .map((one) => ({ uriTemplate: one.uri, ...facts(one) })),
  }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const found = findResource(resources, uri);
    if (found === undefined) throw new ResourceNotFoundError(uri);
    const text = await readText(found.resource, found.variable, uri, parts);
    return { contents: [{ uri, mimeType: found.resource.mimeType, text }] };
  });
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

async function completeVariable<Services>(
  { resources, services }: ServerParts<Services>,
  template: string,
  argument: { readonly name: string; readonly value: string },
): Promise<readonly string[]> {
  const resource = resources.find(({ uri }) => uri === template);
  if (resource === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Nothing here has that to complete.');
  if (variableOf(resource.uri) !== argument.name) return [];
  return (await resource.complete?.(argument.value, services)) ?? [];
}

async function readText<Services>(
  resource: Resource<Services>,
  variable: string,
  uri: string,
  parts: ServerParts<Services>,
): Promise<string> {
  try {
    const text = await resource.read(variable, parts.services);
    if (wireBytes(text) > MAX_REPLY_BYTES) {
      throw new BridgeError(
        'MESSAGE_TOO_LARGE',
        `${uri} is over ${MAX_REPLY_BYTES} bytes long.`,
        'Read it in parts with get_task_output.',
      );
    }
    return text;
  } catch (thrown) {
    if (thrown instanceof BridgeError && thrown.code === 'TASK_NOT_FOUND') {
      throw new ResourceNotFoundError(uri, errorText(thrown));
    }
    if (thrown instanceof BridgeError)
      throw new ProtocolError(ProtocolErrorCode.InternalError, errorText(thrown));
    parts.logger.error('A resource could not be read by a fault of the bridge', { uri, fault: thrown });
    throw new ProtocolError(
      ProtocolErrorCode.InternalError,
      'INTERNAL_ERROR: the server log on stderr has the details.',
    );
  }
}

/** The acknowledgement of `subscriptions/listen`, as far as it concerns resources. */
const acknowledged = z.object({
  method: z.literal('notifications/subscriptions/acknowledged'),
  params: z.object({
    notifications: z.object({ resourceSubscriptions: z.array(z.string()).optional() }),
    _meta: z.object({ [SUBSCRIPTION_ID_META_KEY]: z.union([z.string(), z.number()]) }),
  }),
});

/** Listening is served by the SDK before a server sees it; what it granted shows in its acknowledgement. */
function followListening<Services>(
  message: JSONRPCMessage,
  updates: ResourceUpdates<Services>,
  logger: Logger,
): void {
  if (!('method' in message) || message.method !== 'notifications/subscriptions/acknowledged') return;
  const granted = acknowledged.safeParse(message);
  if (!granted.success) return;
  const { notifications, _meta } = granted.data.params;
  for (const uri of notifications.resourceSubscriptions ?? []) {
    const outcome = updates.subscribe(listener(_meta[SUBSCRIPTION_ID_META_KEY]), uri);
    if (outcome !== 'following')
      logger.warn('A resource that a client listens to is not followed', { uri, outcome });
  }
}

const cancelled = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.object({ requestId: z.union([z.string(), z.number()]) }),
});

function stopListening<Services>(message: JSONRPCMessage, updates: ResourceUpdates<Services>): void {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return;
  const parsed = cancelled.safeParse(message);
  if (parsed.success) updates.unsubscribe(listener(parsed.data.params.requestId));
}

/** `1` and `"1"` are two requests. */
function listener(id: string | number): string {
  return `listen ${JSON.stringify(id)}`;
}

function noValidator(): never {
  throw new Error('This server validates with zod alone.');
}
