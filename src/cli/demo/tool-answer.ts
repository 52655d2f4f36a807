// Pure: the answer of a tool call as MCP clients give it.
import { z } from 'zod';

const answerSchema = z.object({
  isError: z.boolean().optional(),
  structuredContent: z.unknown().optional(),
  content: z.array(z.looseObject({ type: z.string() })).default([]),
});
const textSchema = z.object({ text: z.string() });

/** The structured content of an answer; an error answer is thrown with its words. */
export function structuredContentOf(tool: string, answer: unknown): unknown {
  const parsed = answerSchema.parse(answer);
  if (parsed.isError !== true) return parsed.structuredContent;
  const words = parsed.content.flatMap((block) => textSchema.safeParse(block).data?.text ?? []).join('\n');
  throw new Error(`${tool} was refused: ${words}`);
}
