// Pure: one line of the CLI's `stream-json` output → a typed event. Unknown kinds become events too, and are never fatal.
import { z } from 'zod';
import type { SessionUsage } from '../session.js';
import { type KnownHookEvent, parseHookEvent } from '../hooks/hook-event.js';
import { exitCodeIn, type ToolOutcome } from '../transcript-entry.js';

const input = z.record(z.string(), z.unknown());
export type ToolInput = Readonly<Record<string, unknown>>;

export type AssistantBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: ToolInput };

/** An error of the API, as the CLI reports it in a message of its own. */
export interface StreamError {
  readonly code: string;
  /** A more precise name (2.1.330). */
  readonly detail?: string;
  readonly status?: number;
  /** The limit that was reached (2.1.330). */
  readonly limit?: StreamLimit;
}

export interface StreamLimit {
  /** The API refuses requests because of it. */
  readonly isReached: boolean;
  /** In milliseconds since the epoch. */
  readonly resetsAtMs?: number;
}

export type StreamEvent =
  | {
      readonly kind: 'init';
      readonly sessionId: string;
      readonly model?: string;
      readonly cliVersion?: string;
    }
  | {
      readonly kind: 'api-retry';
      readonly attempt: number;
      readonly maxRetries: number;
      readonly delayMs: number;
      readonly cause: string;
      readonly code?: string;
      /** The HTTP status; missing if the API did not answer. */
      readonly status?: number;
    }
  /** The current state of the account's limit. */
  | { readonly kind: 'limit'; readonly limit: StreamLimit }
  | { readonly kind: 'background-started'; readonly taskId: string }
  | {
      readonly kind: 'background-ended';
      readonly taskId: string;
      readonly toolUseId: string | undefined;
      readonly outputFile: string;
      /** null for a command that was stopped. */
      readonly exitCode: number | null;
    }
  /** All current background tasks (2.1.330). */
  | { readonly kind: 'background-now'; readonly taskIds: readonly string[] }
  | {
      readonly kind: 'assistant';
      readonly blocks: readonly AssistantBlock[];
      /** From a subagent, not from the main conversation. */
      readonly isSubagent: boolean;
      /** The message's UUID in the session's transcript. */
      readonly messageId?: string;
      /** Set when the CLI wrote the message because the API failed. */
      readonly error?: StreamError;
    }
  | {
      readonly kind: 'tool-results';
      readonly results: readonly ToolOutcome[];
    }
  | { readonly kind: 'prompt-blocked'; readonly reason: string }
  | {
      readonly kind: 'result';
      readonly isError: boolean;
      /** False when the model was not asked. */
      readonly isTurn: boolean;
      readonly subtype: string;
      readonly message: string;
      readonly terminalReason: string;
      readonly deniedTools: readonly string[];
      /** The totals of the session so far. */
      readonly usage?: SessionUsage;
    }
  | {
      readonly kind: 'permission';
      readonly requestId: string;
      readonly tool: string;
      readonly input: ToolInput;
      /** Claude Code's own words. */
      readonly why: string | undefined;
      readonly toolUseId: string | undefined;
    }
  /** A hook that the driver asked for when it opened the protocol; it waits for the output. */
  | { readonly kind: 'hook'; readonly requestId: string; readonly event: KnownHookEvent }
  /** A control request that this driver does not handle. */
  | { readonly kind: 'other-request'; readonly requestId: string; readonly subtype: string }
  | { readonly kind: 'request-cancelled'; readonly requestId: string }
  /** The answer to `get_usage` (2.1.330, 2.1.332). */
  | { readonly kind: 'usage'; readonly requestId: string; readonly usage: SessionUsage }
  | { readonly kind: 'control-failed'; readonly requestId: string; readonly error: string }
  | { readonly kind: 'unknown'; readonly type: string };

/** The year 2100. */
const MAX_EPOCH_SECONDS = 4_102_444_800;

const systemSchema = z.discriminatedUnion('subtype', [
  z.object({
    subtype: z.literal('init'),
    session_id: z.guid(),
    model: z.string().optional(),
    claude_code_version: z.string().optional(),
  }),
  z.object({
    subtype: z.literal('informational'),
    prompt_submit_outcome: z.object({ kind: z.literal('blocked_by_hook'), reason: z.string().default('') }),
  }),
  z.object({
    subtype: z.literal('api_retry'),
    attempt: z.number(),
    max_retries: z.number(),
    retry_delay_ms: z.number(),
    error_status: z.number().nullish(),
    error: z.string().nullish(),
  }),
  z.object({ subtype: z.literal('task_started'), task_id: z.string() }),
  z.object({
    subtype: z.literal('task_notification'),
    task_id: z.string(),
    tool_use_id: z.string().optional(),
    output_file: z.string().default(''),
    summary: z.string().default(''),
  }),
  z.object({
    subtype: z.literal('background_tasks_changed'),
    tasks: z.array(z.object({ task_id: z.string() })),
  }),
]);

/** A plausible time in seconds since the epoch, so that the bridge never waits for an absurd one. */
const epochSeconds = z.number().positive().max(MAX_EPOCH_SECONDS);
const limitSchema = z.object({ status: z.string(), resetsAt: epochSeconds.optional().catch(undefined) });

const textBlock = z.object({ type: z.literal('text'), text: z.string() });
const toolUseBlock = z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input });
const toolResultBlock = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(z.unknown())]).optional(),
  is_error: z.boolean().nullish(),
});
const messageSchema = z.object({
  message: z.object({ content: z.union([z.string(), z.array(z.unknown())]) }),
  parent_tool_use_id: z.string().nullish(),
  error: z.string().nullish(),
  api_error: z.string().nullish().catch(undefined),
  api_error_status: z.number().nullish().catch(undefined),
  api_error_params: z.object({ rate_limit_info: limitSchema.optional() }).nullish().catch(undefined),
  uuid: z.guid().optional().catch(undefined),
  /** Details of a tool's result; their form depends on the tool. */
  tool_use_result: z.unknown().optional(),
  /** Of the results that are no outcome of a call: it was denied, or stopped (measured on 2.1.330 and 2.1.332). */
  tool_result_meta: z
    .array(z.object({ id: z.string(), non_execution_kind: z.string().optional() }))
    .optional()
    .catch(undefined),
});
const tokens = z.number().nonnegative().catch(0);
const modelUsageSchema = z.record(
  z.string(),
  z.object({
    inputTokens: tokens,
    outputTokens: tokens,
    cacheReadInputTokens: tokens,
    cacheCreationInputTokens: tokens,
  }),
);
const resultSchema = z.object({
  subtype: z.string(),
  is_error: z.boolean(),
  num_turns: z.number().optional(),
  result: z.string().optional(),
  errors: z.array(z.string()).optional(),
  terminal_reason: z.string().nullish(),
  permission_denials: z.array(z.object({ tool_name: z.string() })).optional(),
  modelUsage: modelUsageSchema.optional().catch(undefined),
  total_cost_usd: z.number().nullish().catch(undefined),
});
const usageResponseSchema = z.object({
  response: z.object({
    request_id: z.string(),
    response: z.object({
      session: z.object({ total_cost_usd: z.number().nullable(), model_usage: modelUsageSchema }),
    }),
  }),
});
const controlRequestSchema = z.object({
  request_id: z.string(),
  request: z.looseObject({ subtype: z.string() }),
});
const canUseToolSchema = z.object({
  subtype: z.literal('can_use_tool'),
  tool_name: z.string(),
  input,
  decision_reason: z.string().optional().catch(undefined),
  tool_use_id: z.string().optional().catch(undefined),
});
const hookCallbackSchema = z.object({ subtype: z.literal('hook_callback'), input: z.unknown() });
const controlResponseSchema = z.object({
  response: z.object({ subtype: z.string(), request_id: z.string(), error: z.string().optional() }),
});
const lineSchema = z.looseObject({ type: z.string() });

/** Undefined when the line is not a JSON object with a type. */
export function parseStreamLine(line: string): StreamEvent | undefined {
  const parsed = lineSchema.safeParse(parseJson(line));
  if (!parsed.success) return undefined;
  return eventOf(parsed.data.type, parsed.data) ?? { kind: 'unknown', type: parsed.data.type };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // The caller shows lines that are not JSON.
  }
}

function eventOf(type: string, line: unknown): StreamEvent | undefined {
  switch (type) {
    case 'system':
      return systemEvent(line);
    case 'assistant':
      return assistantEvent(line);
    case 'rate_limit_event': {
      const { data } = z.object({ rate_limit_info: limitSchema }).safeParse(line);
      return data && { kind: 'limit', limit: limitOf(data.rate_limit_info) };
    }
    case 'user':
      return toolResultsEvent(line);
    case 'result':
      return resultEvent(line);
    case 'control_request':
      return controlRequestEvent(line);
    case 'control_response': {
      const answer = usageResponseSchema.safeParse(line).data?.response;
      if (answer !== undefined) {
        const { model_usage, total_cost_usd } = answer.response.session;
        return { kind: 'usage', requestId: answer.request_id, usage: usageOf(model_usage, total_cost_usd) };
      }
      const response = controlResponseSchema.safeParse(line).data?.response;
      if (response?.subtype !== 'error') return undefined;
      return {
        kind: 'control-failed',
        requestId: response.request_id,
        error: response.error ?? 'unknown error',
      };
    }
    case 'control_cancel_request': {
      const { data } = z.object({ request_id: z.string() }).safeParse(line);
      return data && { kind: 'request-cancelled', requestId: data.request_id };
    }
    default:
      return undefined;
  }
}

function systemEvent(line: unknown): StreamEvent | undefined {
  const { data } = systemSchema.safeParse(line);
  switch (data?.subtype) {
    case 'init':
      return {
        kind: 'init',
        sessionId: data.session_id,
        ...(data.model !== undefined && { model: data.model }),
        ...(data.claude_code_version !== undefined && { cliVersion: data.claude_code_version }),
      };
    case 'informational':
      return { kind: 'prompt-blocked', reason: data.prompt_submit_outcome.reason };
    case 'api_retry':
      return {
        kind: 'api-retry',
        attempt: data.attempt,
        maxRetries: data.max_retries,
        delayMs: data.retry_delay_ms,
        cause: [data.error_status, data.error]
          .filter((part) => part !== null && part !== undefined)
          .join(' '),
        ...(isSet(data.error) && { code: data.error }),
        ...(typeof data.error_status === 'number' && { status: data.error_status }),
      };
    case 'task_started':
      return { kind: 'background-started', taskId: data.task_id };
    case 'task_notification':
      return {
        kind: 'background-ended',
        taskId: data.task_id,
        toolUseId: data.tool_use_id,
        outputFile: data.output_file,
        exitCode: exitCodeIn(data.summary),
      };
    case 'background_tasks_changed':
      return { kind: 'background-now', taskIds: data.tasks.map((task) => task.task_id) };
    case undefined:
      return undefined;
  }
}

function assistantEvent(line: unknown): StreamEvent | undefined {
  const { data } = messageSchema.safeParse(line);
  if (!data) return undefined;
  return {
    kind: 'assistant',
    blocks: blocksOf(data.message.content).flatMap((block): AssistantBlock[] => {
      const known = z.union([textBlock, toolUseBlock]).safeParse(block).data;
      return known ? [known] : [];
    }),
    isSubagent: isSet(data.parent_tool_use_id),
    ...(data.uuid !== undefined && { messageId: data.uuid }),
    ...(isSet(data.error) && { error: errorOf(data, data.error) }),
  };
}

function errorOf(
  { api_error, api_error_status, api_error_params }: z.infer<typeof messageSchema>,
  code: string,
): StreamError {
  const limit = api_error_params?.rate_limit_info;
  return {
    code,
    ...(isSet(api_error) && { detail: api_error }),
    ...(typeof api_error_status === 'number' && { status: api_error_status }),
    ...(limit !== undefined && { limit: limitOf(limit) }),
  };
}

function limitOf({ status, resetsAt }: z.infer<typeof limitSchema>): StreamLimit {
  return {
    isReached: status === 'rejected',
    ...(resetsAt !== undefined && { resetsAtMs: resetsAt * 1_000 }),
  };
}

function toolResultsEvent(line: unknown): StreamEvent | undefined {
  const { data } = messageSchema.safeParse(line);
  if (!data) return undefined;
  const results = blocksOf(data.message.content).flatMap((block) => {
    const known = toolResultBlock.safeParse(block).data;
    return known
      ? [
          {
            id: known.tool_use_id,
            text: textOf(known.content ?? ''),
            isError: known.is_error === true,
            details: data.tool_use_result,
            ...notRun(data.tool_result_meta?.find(({ id }) => id === known.tool_use_id)?.non_execution_kind),
          },
        ]
      : [];
  });
  return results.length > 0 ? { kind: 'tool-results', results } : undefined;
}

/** An interrupt has the same kind as a refusal at the dialog. */
function notRun(kind: string | undefined): Pick<ToolOutcome, 'stopped' | 'deniedBy'> {
  if (kind === 'permission-rule') return { deniedBy: 'denied by a rule' };
  return kind === undefined ? {} : { stopped: kind === 'user-rejected' ? 'perhaps' : 'before' };
}

function resultEvent(line: unknown): StreamEvent | undefined {
  const { data } = resultSchema.safeParse(line);
  if (!data) return undefined;
  return {
    kind: 'result',
    isError: data.is_error,
    isTurn: data.num_turns !== 0,
    subtype: data.subtype,
    message: data.result ?? (data.errors ?? []).join('\n'),
    terminalReason: data.terminal_reason ?? '',
    deniedTools: (data.permission_denials ?? []).map((denial) => denial.tool_name),
    ...(data.modelUsage !== undefined && { usage: usageOf(data.modelUsage, data.total_cost_usd ?? null) }),
  };
}

function usageOf(models: z.infer<typeof modelUsageSchema>, costUsd: number | null): SessionUsage {
  const sums = Object.entries(models).map(
    ([model, sum]) =>
      [
        model,
        {
          input: sum.inputTokens,
          output: sum.outputTokens,
          cacheRead: sum.cacheReadInputTokens,
          cacheWrite: sum.cacheCreationInputTokens,
        },
      ] as const,
  );
  return { models: Object.fromEntries(sums), costUsd };
}

function controlRequestEvent(line: unknown): StreamEvent | undefined {
  const { data } = controlRequestSchema.safeParse(line);
  if (!data) return undefined;
  const hooked = hookCallbackSchema.safeParse(data.request).data;
  const event = hooked === undefined ? undefined : parseHookEvent(hooked.input);
  if (event !== undefined && event.hook_event_name !== 'other')
    return { kind: 'hook', requestId: data.request_id, event };
  const asked = canUseToolSchema.safeParse(data.request).data;
  if (!asked) return { kind: 'other-request', requestId: data.request_id, subtype: data.request.subtype };
  return {
    kind: 'permission',
    requestId: data.request_id,
    tool: asked.tool_name,
    input: asked.input,
    why: asked.decision_reason,
    toolUseId: asked.tool_use_id,
  };
}

function blocksOf(content: string | readonly unknown[]): readonly unknown[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function textOf(content: string | readonly unknown[]): string {
  return blocksOf(content)
    .flatMap((block) => textBlock.safeParse(block).data?.text ?? [])
    .join('\n');
}

function isSet(value: string | null | undefined): value is string {
  return value !== null && value !== undefined;
}
