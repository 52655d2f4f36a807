import {
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { timed } from './call-log.js';
import { APPS_EXTENSION, isForAppAlone, isForModels, showsApps } from './apps.js';
import { callTool, type ToolHost } from './call-tool.js';
import { clientName, getsTextAlone, hasHooks, pageBytesFor, type AnswerForm } from './client-traits.js';
import { personAt, type ClientForms } from './elicitation.js';
import { nearestName } from '../base/text/nearest-name.js';
import type { Tool } from './tool.js';

export interface ToolsHost<Services> extends ToolHost<Services> {
  readonly tools: readonly Tool<Services>[];
  /** False where no form may be shown to a person, whatever the client declares. */
  readonly showsForms?: boolean;
  /** What an answer has; `auto` when left out. */
  readonly answers?: AnswerForm;
  /** Names of tools after which there is a new resource. */
  readonly resourceMakers?: ReadonlySet<string>;
}

/** Answers `tools/list` and `tools/call`. */
export function serveTools<Services>(server: Server, host: ToolsHost<Services>): void {
  const tools = new Map(host.tools.map((tool) => [tool.name, tool]));
  if (host.tools.some(({ app }) => app !== undefined))
    server.registerCapabilities({ extensions: { [APPS_EXTENSION]: {} } });
  const forms: ClientForms = { open: new Map(), shownMs: new Map() };
  server.setRequestHandler('tools/list', (_request, context) => {
    const hasSchema = !getsTextAlone(server, context, host.answers);
    const hasApps = showsApps(server, context);
    const runsHooks = hasHooks(server, context);
    const shown = host.tools.filter((tool) =>
      tool.forHooks === true ? runsHooks : hasApps || !isForAppAlone(tool),
    );
    return { tools: shown.map((tool) => listed(tool, { hasSchema, hasApps })) };
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = tools.get(params.name);
    const isHidden =
      tool?.forHooks === true
        ? !hasHooks(server, context)
        : tool !== undefined && isForAppAlone(tool) && !showsApps(server, context);
    if (tool === undefined || isHidden) {
      host.logger.info('tools/call of an unknown tool was refused', { name: params.name });
      throw unknownTool(
        params.name,
        host.tools.filter(isForModels).map(({ name }) => name),
      );
    }
    const person = host.showsForms === false ? undefined : personAt(server, context, forms, host.logger);
    const call = {
      signal: context.mcpReq.signal,
      progress: progressOf(context, host.logger),
      pageBytes: pageBytesFor(server, context),
      clientName: clientName(server, context),
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
    if (person?.needed !== undefined && result.isError !== true) return person.needed;
    const { structuredContent, ...rest } = result;
    const isStructured =
      structuredContent !== undefined &&
      (isForAppAlone(tool) || !getsTextAlone(server, context, host.answers));
    return { ...rest, ...(isStructured && { structuredContent }), content: [...result.content] };
  });
}

function listed<Services>(
  tool: Tool<Services>,
  { hasSchema, hasApps }: { readonly hasSchema: boolean; readonly hasApps: boolean },
) {
  const { inputSchema, outputSchema, ...listing } = tool.listing();
  return {
    ...listing,
    ...(hasApps && tool.app !== undefined && { _meta: { ...listing._meta, ui: tool.app } }),
    inputSchema: { ...inputSchema, type: 'object' as const },
    ...((isForAppAlone(tool) || (hasSchema && tool.forHooks !== true)) && {
      outputSchema: { ...outputSchema, type: 'object' as const },
    }),
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
