// Pure: the part of the Messages API that the CLI uses, read from its requests and written as its answers.
import { z } from 'zod';

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
  /** Serve this turn so many times before the next one; 1 when left out. */
  readonly repeat?: number;
}

interface ToolResult {
  readonly toolUseId: string;
  readonly text: string;
  readonly isError: boolean;
}

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
  readonly toolResults: readonly ToolResult[];
  readonly messageCount: number;
}

const textBlockSchema = z.object({ type: z.literal('text'), text: z.string() });
const toolResultBlockSchema = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(z.unknown())]).optional(),
  is_error: z.boolean().nullish(),
});
const bodySchema = z.object({
  model: z.string(),
  stream: z.boolean().optional(),
  tools: z.array(z.object({ name: z.string() })).optional(),
  messages: z.array(z.object({ role: z.string(), content: z.union([z.string(), z.array(z.unknown())]) })),
});

export interface ParsedBody {
  readonly request: ScriptedRequest;
  readonly wantsStream: boolean;
}

function blocksOf(content: string | readonly unknown[] = []): readonly unknown[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** Reads a request body; undefined when it is not a Messages API request. */
export function parseRequestBody(body: string): ParsedBody | undefined {
  const parsed = bodySchema.safeParse(parseJson(body));
  if (!parsed.success) return undefined;
  const { model, stream, tools = [], messages } = parsed.data;
  // The array may end in a message of role `system`: the newest *user* message is the one to answer.
  const newest = messages.findLastIndex((message) => message.role === 'user');
  const blocks = blocksOf(messages[newest]?.content);
  return {
    wantsStream: stream === true,
    request: {
      kind: kindOf(tools.map((tool) => tool.name)),
      model,
      toolNames: tools.map((tool) => tool.name),
      deferredNames: deferredIn(messages),
      userText: textOf(blocks),
      addedText: textOf(messages.slice(newest + 1).flatMap(({ content }) => blocksOf(content))),
      toolResults: blocks.flatMap(toolResultOf),
      messageCount: messages.length,
    },
  };
}

function kindOf(toolNames: readonly string[]): ScriptedRequest['kind'] {
  if (toolNames.length === 0) return 'side';
  // Only the main conversation can start subagents.
  return toolNames.includes('Agent') || toolNames.includes('Task') ? 'turn' : 'subagent';
}

const DEFERRED = /deferred tools are now available via ToolSearch\.[^\n]*\n((?:\w+\n)+)/;

function deferredIn(messages: z.infer<typeof bodySchema>['messages']): string[] {
  const system = messages.filter(({ role }) => role === 'system');
  return system.flatMap(({ content }) => {
    const text = typeof content === 'string' ? content : textOf(content);
    return DEFERRED.exec(`${text}\n`)?.[1]?.trim().split('\n') ?? [];
  });
}

/** Undefined for what is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The caller says what it means.
  }
}

function textOf(blocks: readonly unknown[]): string {
  return blocks.flatMap((block) => textBlockSchema.safeParse(block).data?.text ?? []).join('\n');
}

function toolResultOf(block: unknown): ToolResult[] {
  const { data } = toolResultBlockSchema.safeParse(block);
  if (!data) return [];
  const text = typeof data.content === 'string' ? data.content : textOf(data.content ?? []);
  return [{ toolUseId: data.tool_use_id, text, isError: data.is_error === true }];
}

/** A whole answer, for requests that do not stream. */
export function renderMessage(turn: ScriptedTurn, model: string, id: string) {
  const content = contentOf(turn, id);
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: stopReasonOf(turn),
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: turn.outputTokens ?? 10 },
  };
}

/** The same answer as server-sent events. */
export function renderEventStream(turn: ScriptedTurn, model: string, id: string): string {
  const message = renderMessage(turn, model, id);
  const opened = {
    ...message,
    content: [],
    stop_reason: null,
    usage: { input_tokens: 10, output_tokens: 1 },
  };
  return [
    sse('message_start', { message: opened }),
    ...message.content.flatMap((block, index) => [
      sse('content_block_start', {
        index,
        content_block: block.type === 'text' ? { type: 'text', text: '' } : { ...block, input: {} },
      }),
      sse('content_block_delta', {
        index,
        delta:
          block.type === 'text'
            ? { type: 'text_delta', text: block.text }
            : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
      }),
      sse('content_block_stop', { index }),
    ]),
    sse('message_delta', {
      delta: { stop_reason: message.stop_reason, stop_sequence: null },
      usage: { output_tokens: message.usage.output_tokens },
    }),
    sse('message_stop', {}),
  ].join('');
}

function contentOf(turn: ScriptedTurn, id: string) {
  const tools = turn.tools ?? [];
  // An answer must hold a block, so a turn that neither speaks nor calls a tool says nothing in words.
  const say = turn.say ?? (tools.length === 0 ? '' : undefined);
  return [
    ...(say === undefined ? [] : [{ type: 'text' as const, text: say }]),
    ...tools.map((tool, index) => ({
      type: 'tool_use' as const,
      id: `toolu_${id}_${index}`,
      name: tool.name,
      input: tool.input,
    })),
  ];
}

function stopReasonOf(turn: ScriptedTurn): string {
  return (turn.tools ?? []).length > 0 ? 'tool_use' : 'end_turn';
}

function sse(type: string, data: Readonly<Record<string, unknown>>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
