// Pure: one line of the CLI's `stream-json` output, checked. Lines of other kinds are `other`, and never fatal.
import { z } from 'zod';
import { contentSchema, limitSchema, modelUsageSchema, parseJsonLine } from '../message-content.js';

const input = z.record(z.string(), z.unknown());
export type ToolInput = Readonly<Record<string, unknown>>;

function systemLine<const Subtype extends string, Shape extends z.ZodRawShape>(
  subtype: Subtype,
  shape: Shape,
) {
  return z.object({ type: z.literal('system'), subtype: z.literal(subtype), ...shape });
}

const task = { task_id: z.string() };
const system = z.discriminatedUnion('subtype', [
  systemLine('init', {
    session_id: z.guid(),
    model: z.string().optional(),
    claude_code_version: z.string().optional(),
  }),
  systemLine('informational', {
    prompt_submit_outcome: z.object({ kind: z.literal('blocked_by_hook'), reason: z.string().default('') }),
  }),
  systemLine('api_retry', {
    attempt: z.number(),
    max_retries: z.number(),
    retry_delay_ms: z.number(),
    /** The HTTP status; missing if the API did not answer. */
    error_status: z.number().nullish(),
    error: z.string().nullish(),
  }),
  systemLine('task_started', task),
  systemLine('task_notification', {
    ...task,
    tool_use_id: z.string().default(''),
    output_file: z.string().default(''),
    summary: z.string().default(''),
  }),
  /** All current background tasks (2.1.330). */
  systemLine('background_tasks_changed', { tasks: z.array(z.object(task)) }),
]);

const assistant = z.object({
  type: z.literal('assistant'),
  message: z.object({ content: contentSchema }),
  /** Set for a message of a subagent. */
  parent_tool_use_id: z.string().nullish(),
  /** The message's UUID in the session's transcript. */
  uuid: z.guid().optional().catch(undefined),
  /** Set when the CLI wrote the message because the API failed: its name, a more precise one, the status and the limit (2.1.330). */
  error: z.string().nullish(),
  api_error: z.string().nullish().catch(undefined),
  api_error_status: z.number().nullish().catch(undefined),
  api_error_params: z.object({ rate_limit_info: limitSchema.optional() }).nullish().catch(undefined),
});

const user = z.object({
  type: z.literal('user'),
  message: z.object({ content: contentSchema }),
  /** Details of a tool's result; their form depends on the tool. */
  tool_use_result: z.unknown().optional(),
  /** Of the results that are no outcome of a call: it was denied, or stopped (measured on 2.1.330 and 2.1.332). */
  tool_result_meta: z
    .array(z.object({ id: z.string(), non_execution_kind: z.string().optional() }))
    .default([])
    .catch([]),
});

const result = z.object({
  type: z.literal('result'),
  subtype: z.string(),
  is_error: z.boolean(),
  /** 0 when the model was not asked. */
  num_turns: z.number().optional(),
  result: z.string().optional(),
  errors: z.array(z.string()).default([]),
  terminal_reason: z.string().nullish(),
  permission_denials: z.array(z.object({ tool_name: z.string() })).default([]),
  /** The totals of the session so far. */
  modelUsage: modelUsageSchema.optional().catch(undefined),
  total_cost_usd: z.number().nullish().catch(undefined),
});

const controlRequest = z.object({
  type: z.literal('control_request'),
  request_id: z.string(),
  request: z.union([
    z.object({
      subtype: z.literal('can_use_tool'),
      tool_name: z.string(),
      input,
      /** Claude Code's own words. */
      decision_reason: z.string().optional().catch(undefined),
      tool_use_id: z.string().optional().catch(undefined),
    }),
    /** A hook that the driver asked for when it opened the protocol; it waits for the output. */
    z.object({ subtype: z.literal('hook_callback'), input: z.unknown() }),
    z
      .object({ subtype: z.string() })
      .transform(({ subtype }) => ({ subtype: 'other' as const, asks: subtype })),
  ]),
});

const controlResponse = z.object({
  type: z.literal('control_response'),
  response: z.object({
    subtype: z.string(),
    request_id: z.string(),
    error: z.string().default('unknown error'),
    /** The answer to `get_usage` (2.1.330, 2.1.332). */
    response: z
      .object({ session: z.object({ total_cost_usd: z.number().nullable(), model_usage: modelUsageSchema }) })
      .optional()
      .catch(undefined),
  }),
});

const known = z.discriminatedUnion('type', [
  system,
  assistant,
  user,
  result,
  controlRequest,
  controlResponse,
  z.object({ type: z.literal('control_cancel_request'), request_id: z.string() }),
  z.object({ type: z.literal('rate_limit_event'), rate_limit_info: limitSchema }),
]);

export type StreamLine = z.infer<typeof known> | { readonly type: 'other' };

/** Undefined when the line is not a JSON object with a type. */
export function parseStreamLine(line: string): StreamLine | undefined {
  const value = parseJsonLine(line);
  const { data } = known.safeParse(value);
  if (data !== undefined) return data;
  return z.object({ type: z.string() }).safeParse(value).success ? { type: 'other' } : undefined;
}
