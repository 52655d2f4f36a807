// Pure: Gemini's generateContent, as far as clients use it.
import { z } from 'zod';
import type { ModelApi, ModelRequest } from './model-server.js';

const partSchema = z.looseObject({
  text: z.string().optional(),
  functionResponse: z.looseObject({ response: z.looseObject({ output: z.string().optional() }) }).optional(),
});
const requestSchema = z.looseObject({
  contents: z.array(z.looseObject({ role: z.string().optional(), parts: z.array(partSchema) })),
  systemInstruction: z.looseObject({ parts: z.array(partSchema).optional() }).optional(),
  tools: z
    .array(z.looseObject({ functionDeclarations: z.array(z.looseObject({ name: z.string() })).optional() }))
    .optional(),
  generationConfig: z.looseObject({ responseMimeType: z.string().optional() }).optional(),
});
const METHOD = /:(generateContent|streamGenerateContent|countTokens)$/;

/** `POST …/models/NAME:generateContent`, `:streamGenerateContent` and `:countTokens`. */
export const gemini: ModelApi = ({ path, body }, script) => {
  const method = METHOD.exec(path)?.[1];
  if (method === undefined) return undefined;
  if (method === 'countTokens') return { json: { totalTokens: 10 } };
  const { contents, systemInstruction, tools = [] } = requestSchema.parse(body);
  const lastTurn = contents.findLastIndex(({ role }) => role === 'model');
  const request: ModelRequest = {
    tools: tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name)),
    results: contents
      .slice(lastTurn + 1)
      .flatMap(({ parts }) => parts)
      .flatMap(({ functionResponse }) =>
        functionResponse === undefined
          ? []
          : [functionResponse.response.output ?? JSON.stringify(functionResponse.response)],
      ),
    text: [...(systemInstruction?.parts ?? []), ...contents.flatMap(({ parts }) => parts)]
      .map(({ text }) => text ?? '')
      .join('\n'),
  };
  const turn = script(request);
  const part =
    'say' in turn ? { text: turn.say } : { functionCall: { name: turn.call.name, args: turn.call.args } };
  const answer = {
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
  };
  return method === 'generateContent' ? { json: answer } : { events: `data: ${JSON.stringify(answer)}\n\n` };
};
