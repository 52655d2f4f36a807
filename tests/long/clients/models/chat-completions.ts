// Pure: OpenAI Chat Completions, as far as clients use it.
import { z } from 'zod';
import type { ModelApi, ModelRequest, ModelTurn } from './model-server.js';

/** The text of a message, in one part or several. */
export const textSchema = z
  .union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))])
  .nullish()
  .transform((content) =>
    typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('\n'),
  );
const requestSchema = z.looseObject({
  model: z.string(),
  stream: z.boolean().optional(),
  messages: z.array(z.looseObject({ role: z.string(), content: textSchema })),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).optional(),
});

/** `POST …/chat/completions`. */
export const chatCompletions: ModelApi = ({ path, body }, script) => {
  if (!path.endsWith('/chat/completions')) return undefined;
  const { model, stream, messages, tools = [] } = requestSchema.parse(body);
  const lastTurn = messages.findLastIndex(({ role }) => role === 'assistant');
  const request: ModelRequest = {
    tools: tools.map((tool) => tool.function.name),
    results: messages.slice(lastTurn + 1).flatMap(({ role, content }) => (role === 'tool' ? [content] : [])),
    text: messages.flatMap(({ role, content }) => (role === 'tool' ? [] : [content])).join('\n'),
  };
  const turn = script(request);
  const head = { id: `chatcmpl_${messages.length}`, created: 0, model };
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
  const finish_reason = 'call' in turn ? 'tool_calls' : 'stop';
  if (stream !== true) {
    const choice = { index: 0, message: messageOf(turn, messages.length), finish_reason };
    return { json: { ...head, object: 'chat.completion', choices: [choice], usage } };
  }
  const chunk = (delta: object, reason: string | null): string =>
    `data: ${JSON.stringify({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: reason }],
      ...(reason !== null && { usage }),
    })}\n\n`;
  return {
    events: `${chunk(messageOf(turn, messages.length), null)}${chunk({}, finish_reason)}data: [DONE]\n\n`,
  };
};

function messageOf(turn: ModelTurn, position: number) {
  if ('say' in turn) return { role: 'assistant', content: turn.say };
  const { name, args } = turn.call;
  const call = { name, arguments: JSON.stringify(args) };
  return {
    role: 'assistant',
    content: null,
    tool_calls: [{ index: 0, id: `call_${position}`, type: 'function', function: call }],
  };
}
