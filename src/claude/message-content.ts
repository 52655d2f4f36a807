// Pure: the blocks of a message, as the API, the stream and a transcript have them.
import { z } from 'zod';
import type { ModelUsage } from './usage.js';

const textBlock = z.object({ type: z.literal('text'), text: z.string() });

/** A text, or blocks of which those with text are joined. */
const contentText = z
  .union([z.string(), z.array(z.unknown())])
  .transform((content) =>
    typeof content === 'string'
      ? content
      : content.flatMap((block) => textBlock.safeParse(block).data?.text ?? []).join('\n'),
  );

const block = z.discriminatedUnion('type', [
  textBlock,
  z.object({
    type: z.literal('tool_use'),
    id: z.string(),
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
  }),
  z.object({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    content: contentText.default(''),
    is_error: z.boolean().nullish(),
  }),
]);
export type ContentBlock = z.infer<typeof block>;

/** The content of a message: its blocks, without those of other kinds. */
export const contentSchema = z
  .union([z.string(), z.array(z.unknown())])
  .transform((content): ContentBlock[] =>
    typeof content === 'string'
      ? [{ type: 'text', text: content }]
      : content.flatMap((one) => block.safeParse(one).data ?? []),
  );

/** The year 2100. */
const MAX_EPOCH_SECONDS = 4_102_444_800;

/** The state of the account's limit: reached when the API refuses requests because of it. */
export const limitSchema = z
  .object({
    status: z.string(),
    /** A plausible time in seconds since the epoch, so that the bridge never waits for an absurd one. */
    resetsAt: z.number().positive().max(MAX_EPOCH_SECONDS).optional().catch(undefined),
  })
  .transform(({ status, resetsAt }) => ({
    isReached: status === 'rejected',
    ...(resetsAt !== undefined && { resetsAtMs: resetsAt * 1_000 }),
  }));
export type AccountLimit = z.infer<typeof limitSchema>;

const count = z.number().nonnegative().catch(0);

/** The tokens of one message. */
export const usageSchema = z
  .object({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
  })
  .transform((usage): ModelUsage => ({
    input: usage.input_tokens,
    output: usage.output_tokens,
    cacheRead: usage.cache_read_input_tokens,
    cacheWrite: usage.cache_creation_input_tokens,
  }));

/** The tokens of a session by model, as Claude Code counts them. */
export const modelUsageSchema = z.record(
  z.string(),
  z
    .object({
      inputTokens: count,
      outputTokens: count,
      cacheReadInputTokens: count,
      cacheCreationInputTokens: count,
    })
    .transform((sum): ModelUsage => ({
      input: sum.inputTokens,
      output: sum.outputTokens,
      cacheRead: sum.cacheReadInputTokens,
      cacheWrite: sum.cacheCreationInputTokens,
    })),
);

/** The value of a line of JSON; undefined for an incomplete one, such as the last of a program that was killed. */
export function parseJsonLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
