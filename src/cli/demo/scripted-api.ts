import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { sleep } from '../../base/clock.js';
import { systemClock } from '../../base/system-clock.js';

/** What the scripted model does in one turn: it speaks, calls tools, or the API fails. */
export interface ScriptedTurn {
  readonly say?: string;
  readonly tools?: readonly { readonly name: string; readonly input: Readonly<Record<string, unknown>> }[];
  /** Answer with this HTTP status instead; `type` and `message` are those of the API's error object. */
  readonly error?: {
    readonly status: number;
    readonly type: string;
    readonly message: string;
    readonly headers?: Readonly<Record<string, string>>;
  };
  /** Wait before answering; ends early when the caller hangs up. */
  readonly delayMs?: number;
  /** What the answer counts as its output; 10 when left out. */
  readonly outputTokens?: number;
}

/**
 * What the model does, turn by turn; or a function that decides for each request, subagents included.
 * After the last turn, and to subagents of a list, it says `Done.`
 */
export type Script = readonly ScriptedTurn[] | ((request: ScriptedRequest) => ScriptedTurn);

/** What one request sent to the model. */
export interface ScriptedRequest {
  /** `turn`: the main conversation. `subagent`: one that the model started. `side`: titles and summaries, without tools. */
  readonly kind: 'turn' | 'subagent' | 'side';
  readonly model: string;
  readonly toolNames: readonly string[];
  /** Tools that the model can load: Claude Code names them in a message of its own. */
  readonly deferredNames: readonly string[];
  /** The text blocks of the newest user message, joined by newlines. */
  readonly userText: string;
  /** What hooks added to it: the text of the messages behind it. */
  readonly addedText: string;
  /** The tool results in the newest user message. */
  readonly toolResults: readonly { readonly text: string; readonly isError: boolean }[];
  readonly messageCount: number;
}

/** A stand-in for the Messages API on loopback: the real CLI runs against it, only the model is scripted. */
export interface ScriptedApi {
  /** For ANTHROPIC_BASE_URL. */
  readonly url: string;
  /** What the model received, oldest first; the oldest are dropped above a bound. */
  readonly requests: readonly ScriptedRequest[];
  /** How many turns of the main conversation were asked for, errors included. */
  readonly turnsServed: number;
  /** Hangs up on everyone and stops listening. */
  dispose(): Promise<void>;
}

/** The CLI accepts prompts of a few megabytes; nothing it sends is larger than this. */
const MAX_BODY_CHARS = 64 * 1024 * 1024;
/** Of recorded requests: enough for the longest scenario. */
const MAX_RECORDED = 500;
const LAST_TURN: ScriptedTurn = { say: 'Done.' };
/** Titles and summaries are asked as JSON. */
const SIDE_TURN: ScriptedTurn = { say: '{"title":"A scripted session"}' };
const DEFERRED = /deferred tools are now available via ToolSearch\.[^\n]*\n((?:\w+\n)+)/;

/** A text stands for one block. */
const contentSchema = z
  .union([z.string().transform((text) => [{ type: 'text', text }]), z.array(z.unknown())])
  .default([]);
const textSchema = z.object({ type: z.literal('text'), text: z.string() });
const resultSchema = z.object({
  type: z.literal('tool_result'),
  content: contentSchema,
  is_error: z.boolean().nullish(),
});
const bodySchema = z.object({
  model: z.string(),
  stream: z.boolean().default(false),
  tools: z.array(z.object({ name: z.string() })).default([]),
  messages: z.array(z.object({ role: z.string(), content: contentSchema })),
});
type Body = z.infer<typeof bodySchema>;

/** Starts the stand-in on a free port of 127.0.0.1. */
export async function startScriptedApi(script: Script): Promise<ScriptedApi> {
  const nextTurn = typeof script === 'function' ? script : oneByOne(script);
  const requests: ScriptedRequest[] = [];
  let turnsServed = 0;
  let answers = 0;
  const turnFor = (request: ScriptedRequest): ScriptedTurn => {
    requests.push(request);
    if (requests.length > MAX_RECORDED) requests.shift();
    if (request.kind === 'side') return SIDE_TURN;
    if (request.kind === 'turn') turnsServed++;
    return nextTurn(request);
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '/').replace(/\?.*/s, '');
    const text = await textOf(request);
    if (path === '/') return void response.writeHead(200).end();
    if (path === '/v1/messages/count_tokens') return sendJson(response, 200, { input_tokens: 10 });
    if (path !== '/v1/messages') return sendError(response, 404, 'not_found_error', `Not found: ${path}`);
    const { data: body } = bodySchema.safeParse(JSON.parse(text));
    if (body === undefined)
      return sendError(response, 400, 'invalid_request_error', 'Not a Messages API request.');
    const turn = turnFor(requestOf(body));
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    if (turn.delayMs !== undefined) await sleep(systemClock, turn.delayMs, gone.signal);
    if (response.destroyed) return;
    if (turn.error !== undefined) {
      const { status, type, message, headers = {} } = turn.error;
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      return sendError(response, status, type, message);
    }
    const message = messageOf(turn, body.model, `msg_${++answers}`);
    if (!body.stream) return sendJson(response, 200, message);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(eventsOf(message));
  };
  const server = createServer((request, response) => {
    // The caller hung up, or the script threw: it sees a broken connection.
    handle(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    get turnsServed() {
      return turnsServed;
    },
    dispose: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function oneByOne(turns: readonly ScriptedTurn[]): (request: ScriptedRequest) => ScriptedTurn {
  const queue = [...turns];
  return (request) => (request.kind === 'turn' ? queue.shift() : undefined) ?? LAST_TURN;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > MAX_BODY_CHARS) throw new Error('The request is too large.');
  }
  return text;
}

/** What a request asks. The messages may end in one of role `system`: the newest of the *user* is the one to answer. */
function requestOf({ model, tools, messages }: Body): ScriptedRequest {
  const toolNames = tools.map(({ name }) => name);
  // Only the main conversation can start subagents.
  const isMain = toolNames.includes('Agent') || toolNames.includes('Task');
  const newest = messages.findLastIndex(({ role }) => role === 'user');
  const blocks = messages[newest]?.content ?? [];
  return {
    kind: toolNames.length === 0 ? 'side' : isMain ? 'turn' : 'subagent',
    model,
    toolNames,
    deferredNames: messages.flatMap(({ role, content }) => {
      const [, names] = (role === 'system' && DEFERRED.exec(`${joined(content)}\n`)) || [];
      return names?.trim().split('\n') ?? [];
    }),
    userText: joined(blocks),
    addedText: joined(messages.slice(newest + 1).flatMap(({ content }) => content)),
    toolResults: blocks.flatMap((block) => {
      const { data } = resultSchema.safeParse(block);
      return data === undefined ? [] : [{ text: joined(data.content), isError: data.is_error === true }];
    }),
    messageCount: messages.length,
  };
}

function joined(blocks: readonly unknown[]): string {
  return blocks.flatMap((block) => textSchema.safeParse(block).data?.text ?? []).join('\n');
}

/** A whole answer. It must hold a block, so a turn that neither speaks nor calls a tool says nothing in words. */
function messageOf({ say, tools = [], outputTokens = 10 }: ScriptedTurn, model: string, id: string) {
  const text = say ?? (tools.length === 0 ? '' : undefined);
  const calls = tools.map((tool, index) => ({
    type: 'tool_use' as const,
    id: `toolu_${id}_${index}`,
    ...tool,
  }));
  return {
    ...{ id, type: 'message', role: 'assistant', model },
    content: [...(text === undefined ? [] : [{ type: 'text' as const, text }]), ...calls],
    stop_reason: tools.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: outputTokens },
  };
}

/** The same answer as server-sent events. */
function eventsOf({
  content,
  stop_reason,
  stop_sequence,
  usage,
  ...more
}: ReturnType<typeof messageOf>): string {
  const begun = { ...usage, output_tokens: 1 };
  return [
    {
      type: 'message_start',
      message: { ...more, content: [], stop_reason: null, stop_sequence, usage: begun },
    },
    ...content.flatMap((block, index) => {
      const isText = block.type === 'text';
      const delta = isText
        ? { type: 'text_delta', text: block.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
      return [
        {
          type: 'content_block_start',
          index,
          content_block: { ...block, ...(isText ? { text: '' } : { input: {} }) },
        },
        { type: 'content_block_delta', index, delta },
        { type: 'content_block_stop', index },
      ];
    }),
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence },
      usage: { output_tokens: usage.output_tokens },
    },
    { type: 'message_stop' },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function sendError(response: ServerResponse, status: number, type: string, message: string): void {
  sendJson(response, status, { type: 'error', error: { type, message } });
}
