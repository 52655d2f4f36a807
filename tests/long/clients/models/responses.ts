// Pure: OpenAI Responses, as far as clients use it.
import { z } from 'zod';
import { textSchema } from './chat-completions.js';
import type { ModelApi, ModelRequest, ModelTurn } from './model-server.js';

const toolSchema = z.looseObject({
  type: z.string(),
  name: z.string().optional(),
  tools: z.array(z.looseObject({ name: z.string() })).optional(),
});
type Tool = z.infer<typeof toolSchema>;
const itemSchema = z.looseObject({
  type: z.string().optional(),
  role: z.string().optional(),
  content: textSchema,
  output: textSchema,
  tools: z.array(toolSchema).optional(),
});
const requestSchema = z.looseObject({
  model: z.string(),
  stream: z.boolean().optional(),
  instructions: z.string().nullish(),
  input: z.union([
    z.string().transform((content) => [{ role: 'user', content, output: '' }]),
    z.array(itemSchema),
  ]),
  tools: z.array(toolSchema).optional(),
});
const OUTPUTS: ReadonlySet<string> = new Set(['function_call_output', 'tool_search_output']);
/** Between the group of a tool and its name, in the names that the script sees. */
const GROUPED = '::';

/** `POST …/responses`. Tools of a namespace are offered as `namespace::name`. */
export const responses: ModelApi = ({ path, body }, script) => {
  if (!path.endsWith('/responses')) return undefined;
  const { model, stream, instructions, input, tools = [] } = requestSchema.parse(body);
  const items = input.map((item) => itemSchema.parse(item));
  const lastTurn = items.findLastIndex(
    ({ type, role }) => role === 'assistant' || type === 'function_call' || type === 'tool_search_call',
  );
  const found = items.flatMap((item) => item.tools ?? []);
  const request: ModelRequest = {
    tools: [...tools, ...found].flatMap(namesOf),
    results: items
      .slice(lastTurn + 1)
      .flatMap(({ type, output, tools: results }) =>
        OUTPUTS.has(type ?? '') ? [results === undefined ? output : JSON.stringify(results)] : [],
      ),
    text: [instructions ?? '', ...items.map(({ content }) => content)].join('\n'),
  };
  const output = [itemOf(script(request), items.length)];
  const usage = { input_tokens: 10, output_tokens: 10, total_tokens: 20 };
  const details = {
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  };
  const response = {
    id: `resp_${items.length}`,
    object: 'response',
    created_at: 0,
    model,
    status: 'completed',
    output,
    usage: { ...usage, ...details },
  };
  if (stream !== true) return { json: response };
  return {
    events: [
      sse('response.created', { response: { ...response, status: 'in_progress', output: [] } }),
      ...output.flatMap((item, output_index) => [
        sse('response.output_item.added', { output_index, item }),
        sse('response.output_item.done', { output_index, item }),
      ]),
      sse('response.completed', { response }),
    ].join(''),
  };
};

function namesOf({ name, tools, type }: Tool): string[] {
  if (tools === undefined) return [name ?? type];
  return tools.map((tool) => `${name ?? ''}${GROUPED}${tool.name}`);
}

function itemOf(turn: ModelTurn, position: number) {
  const id = `item_${position}`;
  if ('say' in turn) {
    const content = [{ type: 'output_text', text: turn.say, annotations: [] }];
    return { type: 'message', id, role: 'assistant', status: 'completed', content };
  }
  const [group, name] = turn.call.name.split(GROUPED);
  const call_id = `call_${position}`;
  const args = turn.call.args;
  if (turn.call.name === 'tool_search')
    return {
      type: 'tool_search_call',
      id,
      call_id,
      status: 'completed',
      execution: 'client',
      arguments: args,
    };
  return {
    type: 'function_call',
    id,
    call_id,
    status: 'completed',
    name: name ?? turn.call.name,
    ...(name !== undefined && { namespace: group }),
    arguments: JSON.stringify(args),
  };
}

function sse(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
