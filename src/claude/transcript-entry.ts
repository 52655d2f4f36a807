// Pure: one line of a session's transcript → what a log and a receipt need. Lines of other kinds are ignored.
import { z } from 'zod';
import { oneLine } from '../base/text.js';
import {
  contentSchema,
  limitSchema,
  parseJsonLine,
  usageSchema,
  type AccountLimit,
  type ContentBlock,
} from './message-content.js';

const MAX_REASON_CHARS = 300;

export interface ToolOutcome {
  readonly id: string;
  readonly isError: boolean;
  /** What the model read. */
  readonly text: string;
  /** Further details that the CLI recorded; their form depends on the tool. */
  readonly details: unknown;
  /** Of a call without a result of its own: refused before it ran, or stopped while it ran. Left out where nothing tells which. */
  readonly stopped?: Stopped | undefined;
  /** Of a call that a rule denied: which, in words. */
  readonly deniedBy?: string | undefined;
}

/** `perhaps`: it was interrupted, and nothing tells whether it had begun. */
export type Stopped = 'before' | 'running' | 'perhaps';

/** An error of the API, as the CLI records it (2.1.332). */
export interface ApiError {
  readonly detail: string | undefined;
  readonly status: number | undefined;
  readonly limit: AccountLimit | undefined;
}

const common = {
  isSidechain: z.boolean().optional(),
  timestamp: z.string(),
};
const assistantSchema = z.object({
  ...common,
  type: z.literal('assistant'),
  message: z.object({
    id: z.string(),
    model: z.string(),
    content: contentSchema,
    usage: usageSchema.optional().catch(undefined),
  }),
  isApiErrorMessage: z.boolean().optional().catch(undefined),
  apiError: z.string().optional().catch(undefined),
  apiErrorStatus: z.number().optional().catch(undefined),
  apiErrorParams: z.object({ rate_limit_info: limitSchema.optional() }).optional().catch(undefined),
});
const userSchema = z.object({
  ...common,
  type: z.literal('user'),
  cwd: z.string().optional(),
  message: z.object({ content: contentSchema }),
  toolUseResult: z.unknown().optional(),
  toolDenialKind: z.string().optional().catch(undefined),
  toolDenialBeforeRun: z.boolean().optional().catch(undefined),
  toolDenialAfterRun: z.boolean().optional().catch(undefined),
  permissionDecision: z
    // A person's denial of what a rule asked about has another source.
    .object({ decision: z.literal('reject'), source: z.literal('config'), ruleSource: z.string() })
    .optional()
    .catch(undefined),
});
/** The CLI's message to the model: as a prompt of its own, or queued for the running turn. */
const notificationSchema = z.union([
  z.object({
    ...common,
    type: z.literal('user'),
    origin: z.object({ kind: z.literal('task-notification') }),
    message: z.object({ content: z.string() }),
  }),
  z
    .object({
      ...common,
      type: z.literal('queue-operation'),
      operation: z.literal('enqueue'),
      content: z.string(),
    })
    .transform(({ content, ...rest }) => ({ ...rest, message: { content } })),
]);
const notificationText =
  /^<task-notification>[^]*<tool-use-id>([^<]+)<\/tool-use-id>\s*<output-file>([^<]+)<\/output-file>[^]*<summary>Background command ([^]*)<\/summary>/;

export type TranscriptEntry = NonNullable<ReturnType<typeof parseTranscriptLine>>;

/** Undefined for a line of another kind, and for an incomplete one. */
export function parseTranscriptLine(line: string) {
  const value = parseJsonLine(line);
  return assistantEntry(value) ?? backgroundEnd(value) ?? blockedPrompt(value) ?? results(value);
}

/** Whether an entry is of a subagent, not of the main conversation, and when it was written, in milliseconds since the epoch. */
function commonOf({ isSidechain, timestamp }: z.infer<z.ZodObject<typeof common>>) {
  return { isSubagent: isSidechain === true, atMs: Date.parse(timestamp) };
}

/** What the assistant said, without blank texts, and the tools that it called; `error`: the CLI wrote it because the API failed. */
function assistantEntry(value: unknown) {
  const { data } = assistantSchema.safeParse(value);
  if (data === undefined) return undefined;
  const { id: messageId, model, content, usage } = data.message;
  const { apiError: detail, apiErrorStatus: status, apiErrorParams } = data;
  const error: ApiError = { detail, status, limit: apiErrorParams?.rate_limit_info };
  return {
    kind: 'assistant' as const,
    ...commonOf(data),
    messageId,
    model,
    usage,
    texts: content.flatMap((block) =>
      block.type === 'text' && block.text.trim() !== '' ? [block.text] : [],
    ),
    uses: content.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, tool: block.name, input: block.input }] : [],
    ),
    error: data.isApiErrorMessage === true ? error : undefined,
  };
}

function results(value: unknown) {
  const { data } = userSchema.safeParse(value);
  if (data === undefined) return undefined;
  const stopped = stoppedOf(data);
  const deniedBy = deniedWords(data.permissionDecision?.ruleSource);
  const outcomes = toolOutcomes(data.message.content, data.toolUseResult).map((outcome): ToolOutcome => ({
    ...outcome,
    ...(stopped !== undefined && { stopped }),
    ...(deniedBy !== undefined && { deniedBy }),
  }));
  return { kind: 'results' as const, ...commonOf(data), cwd: data.cwd, outcomes };
}

/** The results in a message; `details`: what the CLI recorded beside it. */
export function toolOutcomes(content: readonly ContentBlock[], details: unknown): ToolOutcome[] {
  return content.flatMap((block) =>
    block.type === 'tool_result'
      ? [{ id: block.tool_use_id, isError: block.is_error === true, text: block.content, details }]
      : [],
  );
}

/** 2.1.330 and 2.1.332. */
const blockedSchema = z.object({
  ...common,
  type: z.literal('system'),
  promptSubmitEnding: z.object({
    ending: z.object({ kind: z.literal('blocked_by_hook'), reason: z.string().default('') }),
  }),
});

/** A hook blocked a prompt, which the model does not get. */
function blockedPrompt(value: unknown) {
  const { data } = blockedSchema.safeParse(value);
  if (data === undefined) return undefined;
  const reason = blockedByHook(data.promptSubmitEnding.ending.reason);
  return { kind: 'prompt-blocked' as const, ...commonOf(data), reason };
}

/**
 * A command that ran in the background has ended; a transcript may say so twice. `exitCode`: null for one that was stopped; `outputFile`:
 * where the CLI collected what it printed.
 */
function backgroundEnd(value: unknown) {
  const { data } = notificationSchema.safeParse(value);
  const [, toolUseId, outputFile, words = ''] = notificationText.exec(data?.message.content ?? '') ?? [];
  if (data === undefined || toolUseId === undefined || outputFile === undefined) return undefined;
  const exitCode = exitCodeIn(words);
  return { kind: 'background-ended' as const, ...commonOf(data), toolUseId, exitCode, outputFile };
}

/** In words for a person. */
export function blockedByHook(reason: string): string {
  return `A hook of Claude Code’s settings blocked the prompt: ${oneLine(reason, MAX_REASON_CHARS)}`;
}

const EXIT_CODE_WORDS = /exit code (\d+)\)?$/;

/** Of the words about a command in the background; null for one that was stopped. */
export function exitCodeIn(words: string): number | null {
  const code = EXIT_CODE_WORDS.exec(words)?.[1];
  return code === undefined ? null : Number(code);
}

/** Which of the rules that it was given for this run it was, Claude Code does not say. */
function deniedWords(ruleSource: string | undefined): string | undefined {
  if (ruleSource === undefined) return undefined;
  return ruleSource === 'flagSettings'
    ? 'denied by a rule of this task'
    : `denied by a rule of Claude Code’s settings (${ruleSource})`;
}

function stoppedOf(user: z.infer<typeof userSchema>): Stopped | undefined {
  if (user.toolDenialKind === undefined || user.toolDenialAfterRun === true) return undefined;
  // An interrupt has the same kind as a refusal at the dialog.
  return user.toolDenialKind === 'user-rejected' && user.toolDenialBeforeRun !== true ? 'running' : 'before';
}
