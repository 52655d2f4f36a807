import {
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { callTool, timed, type ToolHost } from './call-tool.js';
import { APPS_EXTENSION, Client, declaresTasks, type AnswerForm } from './client.js';
import { FollowedTasks, serveClientTasks, taskFields, type ClientTasks } from './client-tasks.js';
import { personAt, type ClientForms } from './elicitation.js';
import { nearestName } from '../base/input.js';
import { isForAppAlone, isForModels, type Tool } from './tool.js';

/** What clients that follow tasks get besides. */
export interface FollowedHost {
  /** Loaded when a client follows the first one. */
  readonly tasks: () => Promise<ClientTasks>;
  /** Added to the instructions of the server. */
  readonly instructions: string;
  /** Added to the descriptions of these tools. */
  readonly descriptions: Readonly<Record<string, string>>;
}

export interface ToolsHost<Services> extends ToolHost<Services> {
  readonly tools: readonly Tool<Services>[];
  /** False where no form may be shown to a person, whatever the client declares. */
  readonly showsForms?: boolean;
  /** What an answer has; `auto` when left out. */
  readonly answers?: AnswerForm;
  /** Names of tools after which there is a new resource. */
  readonly resourceMakers?: ReadonlySet<string>;
  /** Without it no client follows tasks. */
  readonly followed?: FollowedHost | undefined;
}

/** Answers `tools/list` and `tools/call`. */
export function serveTools<Services>(server: Server, host: ToolsHost<Services>): void {
  const tools = new Map(host.tools.map((tool) => [tool.name, tool]));
  if (host.tools.some(({ app }) => app !== undefined))
    server.registerCapabilities({ extensions: { [APPS_EXTENSION]: {} } });
  const followed = new FollowedTasks();
  if (host.followed !== undefined) serveClientTasks(server, host.followed.tasks, followed);
  const forms: ClientForms = { open: new Map(), shownMs: new Map() };
  server.setRequestHandler('tools/list', (_request, context) => {
    const client = new Client(server, context);
    // Each of these reads what the client declared: once for all tools.
    const has = {
      hooks: client.hasHooks,
      apps: client.showsApps,
      schema: !client.getsTextAlone(host.answers),
    };
    const words = declaresTasks(context.mcpReq.envelope) ? host.followed?.descriptions : undefined;
    const shown = host.tools.filter((tool) => isShown(tool, has));
    return { tools: shown.map((tool) => listed(tool, { ...has, more: words?.[tool.name] })) };
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const client = new Client(server, context);
    const tool = tools.get(params.name);
    if (tool === undefined || !isShown(tool, { hooks: client.hasHooks, apps: client.showsApps })) {
      host.logger.info('tools/call of an unknown tool was refused', { name: params.name });
      throw unknownTool(
        params.name,
        host.tools.filter(isForModels).map(({ name }) => name),
      );
    }
    const person = host.showsForms === false ? undefined : personAt(server, context, forms, host.logger);
    const follower = followerOf(context, host.followed, followed);
    const call = {
      follower,
      signal: context.mcpReq.signal,
      progress: progressOf(context, host.logger),
      pageBytes: client.pageBytes,
      clientName: client.name,
      person,
    };
    const result = await timed(host.logger, `tools/call ${tool.name}`, () =>
      callTool(tool, params.arguments, host, call),
    );
    if (result.isError !== true && host.resourceMakers?.has(tool.name) === true) {
      server
        .sendResourceListChanged()
        .catch((error: unknown) =>
          host.logger.debug('A changed list of resources could not be reported', { error: messageOf(error) }),
        );
    }
    const instead = result.isError === true ? undefined : ((await follower?.answer()) ?? person?.needed);
    if (instead !== undefined) return instead;
    const { structuredContent, ...rest } = result;
    const isStructured =
      structuredContent !== undefined && (isForAppAlone(tool) || !client.getsTextAlone(host.answers));
    return { ...rest, ...(isStructured && { structuredContent }), content: [...result.content] };
  });
}

function isShown<Services>(
  tool: Tool<Services>,
  has: { readonly hooks: boolean; readonly apps: boolean },
): boolean {
  return tool.forHooks === true ? has.hooks : has.apps || !isForAppAlone(tool);
}

/** `more` is added to the description for a client that follows tasks. */
function listed<Services>(
  tool: Tool<Services>,
  has: { readonly schema: boolean; readonly apps: boolean; readonly more: string | undefined },
) {
  const { more } = has;
  const { inputSchema, outputSchema, ...listing } = tool.listing();
  return {
    ...listing,
    ...(more !== undefined && { description: `${listing.description} ${more}` }),
    ...(has.apps && tool.app !== undefined && { _meta: { ...listing._meta, ui: tool.app } }),
    inputSchema: { ...inputSchema, type: 'object' as const },
    // An answer that is a task, and its end, are text: a client that has read a schema refuses them (MCP Inspector 2.12.0).
    ...((isForAppAlone(tool) || (has.schema && more === undefined && tool.forHooks !== true)) && {
      outputSchema: { ...outputSchema, type: 'object' as const },
    }),
  };
}

/** One call of a client that follows tasks; `answer` is the task that it is answered by, if any. */
function followerOf({ mcpReq }: ServerContext, host: FollowedHost | undefined, followed: FollowedTasks) {
  if (host === undefined || !declaresTasks(mcpReq.envelope)) return undefined;
  let id: string | undefined;
  return {
    follows: (taskId: string) => followed.has(taskId),
    follow: (taskId: string) => void (id = taskId),
    answer: async () => {
      if (id === undefined) return undefined;
      const task = followed.saw(await (await host.tasks()).get(id));
      return { content: [], resultType: 'task', ...taskFields(task) };
    },
  };
}

function unknownTool(name: string, known: readonly string[]): ProtocolError {
  const near = nearestName(name, known);
  const hint = near === undefined ? 'tools/list lists every tool.' : `Did you mean ${near}?`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool ${JSON.stringify(name)}. ${hint}`);
}

function progressOf(context: ServerContext, logger: Logger): (text: string) => void {
  const progressToken = context.mcpReq._meta?.progressToken;
  let progress = 0;
  return (message) => {
    if (progressToken === undefined || context.mcpReq.signal.aborted) return;
    progress += 1;
    context.mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, progress, message } })
      .catch((error: unknown) => logger.debug('Progress could not be sent', { error: messageOf(error) }));
  };
}
