import {
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { timed } from './call-tool.js';
import { callTool, type ToolHost } from './call-tool.js';
import { APPS_EXTENSION, Client, declaresTasks, type AnswerForm } from './client.js';
import { FollowedTasks, taskFields, type ClientTasks } from './client-tasks.js';
import { personAt, type ClientForms } from './elicitation.js';
import { nearestName } from '../base/text/nearest-name.js';
import { serveClientTasks } from './serve-client-tasks.js';
import { isForAppAlone, isForModels, type Follower, type Tool } from './tool.js';

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
    const hasSchema = !client.getsTextAlone(host.answers);
    const hasApps = client.showsApps;
    const words = declaresTasks(context.mcpReq.envelope) ? host.followed?.descriptions : undefined;
    const shown = host.tools.filter((tool) =>
      tool.forHooks === true ? client.hasHooks : hasApps || !isForAppAlone(tool),
    );
    return { tools: shown.map((tool) => listed(tool, { hasSchema, hasApps, more: words?.[tool.name] })) };
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const client = new Client(server, context);
    const tool = tools.get(params.name);
    const isHidden =
      tool?.forHooks === true
        ? !client.hasHooks
        : tool !== undefined && isForAppAlone(tool) && !client.showsApps;
    if (tool === undefined || isHidden) {
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
    if (follower?.task !== undefined && result.isError !== true) return follower.answer(follower.task);
    if (person?.needed !== undefined && result.isError !== true) return person.needed;
    const { structuredContent, ...rest } = result;
    const isStructured =
      structuredContent !== undefined && (isForAppAlone(tool) || !client.getsTextAlone(host.answers));
    return { ...rest, ...(isStructured && { structuredContent }), content: [...result.content] };
  });
}

function listed<Services>(
  tool: Tool<Services>,
  {
    hasSchema,
    hasApps,
    more,
  }: { readonly hasSchema: boolean; readonly hasApps: boolean; readonly more: string | undefined },
) {
  const { inputSchema, outputSchema, ...listing } = tool.listing();
  return {
    ...listing,
    ...(more !== undefined && { description: `${listing.description} ${more}` }),
    ...(hasApps && tool.app !== undefined && { _meta: { ...listing._meta, ui: tool.app } }),
    inputSchema: { ...inputSchema, type: 'object' as const },
    // An answer that is a task, and its end, are text: a client that has read a schema refuses them (MCP Inspector 2.12.0).
    ...((isForAppAlone(tool) || (hasSchema && more === undefined && tool.forHooks !== true)) && {
      outputSchema: { ...outputSchema, type: 'object' as const },
    }),
  };
}

/** One call of a client that follows tasks. */
class CallFollower implements Follower {
  readonly #tasks: FollowedHost['tasks'];
  readonly #followed: FollowedTasks;
  task: string | undefined;

  constructor(tasks: FollowedHost['tasks'], followed: FollowedTasks) {
    this.#tasks = tasks;
    this.#followed = followed;
  }

  follows(taskId: string): boolean {
    return this.#followed.has(taskId);
  }

  follow(taskId: string): void {
    this.task = taskId;
  }

  /** The task as the answer of the call. */
  async answer(taskId: string) {
    const task = this.#followed.saw(await (await this.#tasks()).get(taskId));
    return { content: [], resultType: 'task', ...taskFields(task) };
  }
}

function followerOf(
  { mcpReq }: ServerContext,
  host: FollowedHost | undefined,
  followed: FollowedTasks,
): CallFollower | undefined {
  return host !== undefined && declaresTasks(mcpReq.envelope)
    ? new CallFollower(host.tasks, followed)
    : undefined;
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
