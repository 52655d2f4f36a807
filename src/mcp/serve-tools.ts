import {
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { BridgeError, bridgeErrorOf, messageOf } from '../base/errors.js';
import { nearestName } from '../base/input.js';
import type { Logger } from '../base/logger.js';
import { MAX_REPLY_BYTES, readable, wireJson, type JsonObject } from './answers.js';
import { APPS_EXTENSION, clientOf, type AnswerForm, type RequestClient } from './client.js';
import { followedTask, serveClientTasks, type ClientTasks, type FollowedTasks } from './client-tasks.js';
import { legacyPerson, modernPerson, type ClientForms } from './person.js';
import { ONLY_APPS, type Tool, type ToolCall } from './tool.js';

/** What clients that follow tasks get besides. */
export interface FollowedHost {
  /** Loaded when a client follows the first one. */
  readonly tasks: () => Promise<ClientTasks>;
  /** Added to the instructions of the server. */
  readonly instructions: string;
  /** Added to the descriptions of these tools. */
  readonly descriptions: Readonly<Record<string, string>>;
}

/** What tools, prompts and resources are served with. */
export interface Host<Services> {
  readonly services: Services;
  readonly logger: Logger;
  /** Why nothing works; with it what is fixed is listed, and nothing can be had. */
  readonly unusable?: BridgeError | undefined;
}

export interface ToolHost<Services> extends Host<Services> {
  /** Runs before every tool; throws BridgeError when the tool cannot work yet, or here. */
  readonly precondition?: (tool: string) => void | Promise<void>;
  /** What an error says to do next; left out, as for a client that has every tool. */
  readonly hintOf?: (error: BridgeError) => string;
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
  const { tools, logger, answers = 'auto' } = host;
  if (tools.some(({ page }) => page !== undefined))
    server.registerCapabilities({ extensions: { [APPS_EXTENSION]: {} } });
  const followed: FollowedTasks = new Map();
  if (host.followed !== undefined) serveClientTasks(server, host.followed.tasks, followed);
  const forms: ClientForms = { open: new Map(), shownMs: new Map() };
  const hasText = ({ takesText }: RequestClient): boolean =>
    answers === 'auto' ? takesText : answers === 'text';
  server.setRequestHandler('tools/list', (_request, context) => {
    const client = clientOf(server, context);
    const words = client.followsTasks ? host.followed?.descriptions : undefined;
    const shown = tools.filter((tool) => isShown(tool, client));
    return {
      tools: shown.map((tool) => listed(tool, client.showsApps, !hasText(client), words?.[tool.name])),
    };
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const client = clientOf(server, context);
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined || !isShown(tool, client)) {
      logger.info('tools/call of an unknown tool was refused', { name: params.name });
      const known = tools.filter(({ caller }) => caller === undefined).map(({ name }) => name);
      throw unknownTool(params.name, known);
    }
    const hasForms = client.showsForms && host.showsForms !== false;
    const personAt = client.isModern ? modernPerson : legacyPerson;
    const person = hasForms ? personAt(context, forms, logger) : undefined;
    const follower = client.followsTasks ? followerOf(host.followed, followed) : undefined;
    const call = {
      follower,
      signal: context.mcpReq.signal,
      progress: progressOf(context, logger),
      pageBytes: client.pageBytes,
      clientName: client.name,
      person,
    };
    const result = await timed(logger, `tools/call ${tool.name}`, () =>
      callTool(tool, params.arguments, host, call),
    );
    if (result.isError === true) return { ...result, content: [...result.content] };
    if (host.resourceMakers?.has(tool.name) === true)
      quietly(server.sendResourceListChanged(), 'A changed list of resources could not be reported', logger);
    const { structuredContent, content, ...rest } = result;
    const isStructured = structuredContent !== undefined && (tool.caller === 'page' || !hasText(client));
    return (
      (await follower?.answer()) ??
      person?.needed ?? { ...rest, ...(isStructured && { structuredContent }), content: [...content] }
    );
  });
}

function isShown<Services>({ caller }: Tool<Services>, { hasHooks, showsApps }: RequestClient): boolean {
  return caller === 'hooks' ? hasHooks : showsApps || caller === undefined;
}

/** `more` is added to the description for a client that follows tasks. */
function listed<Services>(
  tool: Tool<Services>,
  hasApps: boolean,
  hasSchema: boolean,
  more: string | undefined,
) {
  const { inputSchema, outputSchema, ...listing } = tool.listing;
  const { page, caller } = tool;
  // An answer that is a task, and its end, are text: a client that has read a schema refuses them (MCP Inspector 2.12.0).
  const isData = caller === 'page' || (hasSchema && more === undefined && caller === undefined);
  const ui = caller === 'page' ? ONLY_APPS : page && { resourceUri: page };
  return {
    ...listing,
    ...(more !== undefined && { description: `${listing.description} ${more}` }),
    ...(hasApps && ui !== undefined && { _meta: { ...listing._meta, ui } }),
    inputSchema: { ...inputSchema, type: 'object' as const },
    ...(isData && { outputSchema: { ...outputSchema, type: 'object' as const } }),
  };
}

/** One call of a client that follows tasks; `answer` is the task that it is answered by, if any. */
function followerOf(host: FollowedHost | undefined, followed: FollowedTasks) {
  if (host === undefined) return undefined;
  let id: string | undefined;
  return {
    follows: (taskId: string) => followed.has(taskId),
    follow: (taskId: string) => void (id = taskId),
    answer: async () => {
      if (id === undefined) return undefined;
      const task = followedTask(await (await host.tasks()).get(id), followed);
      return { content: [], resultType: 'task', ...task };
    },
  };
}

function unknownTool(name: string, known: readonly string[]): ProtocolError {
  const near = nearestName(name, known);
  const hint = near === undefined ? 'tools/list lists every tool.' : `Did you mean ${near}?`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool ${JSON.stringify(name)}. ${hint}`);
}

/** Lets go of what is sent to a client that may be gone; `failure` is for the log. */
export function quietly(sent: Promise<unknown>, failure: string, logger: Logger): void {
  sent.catch((error: unknown) => logger.debug(failure, { error: messageOf(error) }));
}

function progressOf({ mcpReq }: ServerContext, logger: Logger): (text: string) => void {
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  return (message) => {
    if (progressToken === undefined || mcpReq.signal.aborted) return;
    progress += 1;
    const params = { progressToken, progress, message };
    quietly(
      mcpReq.notify({ method: 'notifications/progress', params }),
      'Progress could not be sent',
      logger,
    );
  };
}

/** What `tools/call` answers. An error has text alone: structured content would have to fit the tool's output schema. */
export interface ToolResult {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }];
  readonly structuredContent?: JsonObject;
  readonly isError?: true;
  /** Of an error, for programs: its code and what belongs to it. The text says the same to a model. */
  readonly _meta?: { readonly error: Readonly<Record<string, string>> };
}

/** Its page reads the structured form, and no model reads the text. */
const FOR_THE_APP = 'For the app.';

/** Runs a tool and turns its result or error into an answer: the one place where errors are caught. Never rejects. */
export async function callTool<Services>(
  tool: Tool<Services>,
  args: unknown,
  host: ToolHost<Services>,
  call: ToolCall,
): Promise<ToolResult> {
  try {
    await host.precondition?.(tool.name);
    const answer = await tool.run(args, host.services, call);
    if (tool.caller === 'hooks') return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
    const text = tool.caller === 'page' ? FOR_THE_APP : readable(answer);
    const result: ToolResult = { content: [{ type: 'text', text }], structuredContent: answer };
    const bytes = wireJson(result).reduce((sum, { length }) => sum + length, 0);
    if (bytes <= MAX_REPLY_BYTES) return result;
    throw new BridgeError(
      'MESSAGE_TOO_LARGE',
      `The answer of ${tool.name} is too long: ${bytes} bytes, and the limit is ${MAX_REPLY_BYTES}.`,
      'Request less with a smaller limit or max_bytes, and use the cursor for the rest.',
    );
  } catch (thrown) {
    // The client has cancelled the call and gets no answer; what was thrown is the cancellation.
    if (call.signal.aborted)
      return { content: [{ type: 'text', text: 'The call was cancelled.' }], isError: true };
    const error = reported(thrown, `tools/call ${tool.name}`, tool.name, host);
    const text = errorText(error, host.hintOf?.(error));
    const _meta = { error: { errorCode: error.code, ...error.data } };
    return { content: [{ type: 'text', text }], isError: true, _meta };
  }
}

/** The error for the caller of `request`, such as `tools/call read_file`; the log has what was thrown. */
export function reported(
  thrown: unknown,
  request: string,
  what: string,
  { logger }: { readonly logger: Logger },
): BridgeError {
  const error = bridgeErrorOf(thrown, what);
  if (error.code === 'INTERNAL_ERROR')
    logger.error(`${what} failed with an internal error`, { error: thrown });
  // The message repeats arguments; the caller has it.
  else logger.info(`${request} was refused`, { code: error.code });
  return error;
}

/** `CODE: message hint`: how every error of the bridge reads, in answers of tools and of resources. */
export function errorText({ code, message, hint: usual }: BridgeError, hint = usual): string {
  const end = /[.!?…]$/u.test(message) ? '' : '.';
  // After a list of errors, what to do is no part of the last one.
  const before = message.includes('\n') ? '\n' : ' ';
  return `${code}: ${message}${end}${hint === '' ? '' : `${before}${hint}`}`;
}

/** Logs at debug how long the answer to `asked` took. */
export async function timed<T>(logger: Logger, asked: string, answer: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  try {
    return await answer();
  } finally {
    logger.debug(asked, { ms: Math.round(performance.now() - startMs) });
  }
}
