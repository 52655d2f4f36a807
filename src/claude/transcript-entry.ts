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
import type { ModelUsage } from './usage.js';

const MAX_REASON_CHARS = 300;

export interface ToolUse {
  readonly id: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

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

export type TranscriptEntry =
  | {
      readonly kind: 'assistant';
      /** From a subagent, not from the main conversation. */
      readonly isSubagent: boolean;
      /** Milliseconds since the epoch. */
      readonly atMs: number;
      readonly messageId: string;
      readonly model: string;
      readonly usage: ModelUsage | undefined;
      /** What the assistant said; without blank texts. */
      readonly texts: readonly string[];
      readonly uses: readonly ToolUse[];
      /** Set when the CLI wrote the message because the API failed. */
      readonly error: ApiError | undefined;
    }
  | {
      readonly kind: 'results';
      readonly isSubagent: boolean;
      readonly atMs: number;
      readonly cwd: string | undefined;
      readonly outcomes: readonly ToolOutcome[];
    }
  /** A hook blocked a prompt, which the model does not get. */
  | {
      readonly kind: 'prompt-blocked';
      readonly isSubagent: false;
      readonly atMs: number;
      readonly reason: string;
    }
  /** A command that ran in the background has ended; a transcript may say so twice. */
  | {
      readonly kind: 'background-ended';
      readonly isSubagent: false;
      readonly atMs: number;
      readonly toolUseId: string;
      /** null for a command that was stopped. */
      readonly exitCode: number | null;
      /** Where the CLI collected what it printed. */
      readonly outputFile: string;
    };

const assistantSchema = z.object({
  type: z.literal('assistant'),
  isSidechain: z.boolean().optional(),
  timestamp: z.string(),
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
  type: z.literal('user'),
  isSidechain: z.boolean().optional(),
  timestamp: z.string(),
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
  z
    .object({
      type: z.literal('user'),
      timestamp: z.string(),
      origin: z.object({ kind: z.literal('task-notification') }),
      message: z.object({ content: z.string() }),
    })
    .transform(({ timestamp, message }) => ({ timestamp, text: message.content })),
  z
    .object({
      type: z.literal('queue-operation'),
      operation: z.literal('enqueue'),
      timestamp: z.string(),
      content: z.string(),
    })
    .transform(({ timestamp, content }) => ({ timestamp, text: content })),
]);
const notificationText =
  /^<task-notification>[^]*<tool-use-id>([^<]+)<\/tool-use-id>\s*<output-file>([^<]+)<\/output-file>[^]*<summary>Background command ([^]*)<\/summary>/;

/** Undefined for a line of another kind, and for an incomplete one. */
export function parseTranscriptLine(line: string): TranscriptEntry | undefined {
  const value = parseJsonLine(line);
  const assistant = assistantSchema.safeParse(value).data;
  if (assistant !== undefined) {
    const { id, model, content, usage } = assistant.message;
    return {
      kind: 'assistant',
      isSubagent: assistant.isSidechain === true,
      atMs: Date.parse(assistant.timestamp),
      messageId: id,
      model,
      usage,
      texts: content.flatMap((block) =>
        block.type === 'text' && block.text.trim() !== '' ? [block.text] : [],
      ),
      uses: content.flatMap((block) =>
        block.type === 'tool_use' ? [{ id: block.id, tool: block.name, input: block.input }] : [],
      ),
      error: errorOf(assistant),
    };
  }
  return backgroundEnd(value) ?? blockedPrompt(value) ?? results(value);
}

function errorOf(assistant: z.infer<typeof assistantSchema>): ApiError | undefined {
  if (assistant.isApiErrorMessage !== true) return undefined;
  const { apiError: detail, apiErrorStatus: status, apiErrorParams } = assistant;
  return { detail, status, limit: apiErrorParams?.rate_limit_info };
}

function results(value: unknown): TranscriptEntry | undefined {
  const user = userSchema.safeParse(value).data;
  if (user === undefined) return undefined;
  const stopped = stoppedOf(user);
  const deniedBy = deniedWords(user.permissionDecision?.ruleSource);
  return {
    kind: 'results',
    isSubagent: user.isSidechain === true,
    atMs: Date.parse(user.timestamp),
    cwd: user.cwd,
    outcomes: toolOutcomes(user.message.content, user.toolUseResult).map((outcome) => ({
      ...outcome,
      ...(stopped !== undefined && { stopped }),
      ...(deniedBy !== undefined && { deniedBy }),
    })),
  };
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
  type: z.literal('system'),
  timestamp: z.string(),
  promptSubmitEnding: z.object({
    ending: z.object({ kind: z.literal('blocked_by_hook'), reason: z.string().default('') }),
  }),
});

function blockedPrompt(value: unknown): TranscriptEntry | undefined {
  const { data } = blockedSchema.safeParse(value);
  if (data === undefined) return undefined;
  const reason = blockedByHook(data.promptSubmitEnding.ending.reason);
  return { kind: 'prompt-blocked', isSubagent: false, atMs: Date.parse(data.timestamp), reason };
}

function backgroundEnd(value: unknown): TranscriptEntry | undefined {
  const { data } = notificationSchema.safeParse(value);
  const [, toolUseId, outputFile, words = ''] = notificationText.exec(data?.text ?? '') ?? [];
  if (data === undefined || toolUseId === undefined || outputFile === undefined) return undefined;
  return {
    kind: 'background-ended',
    isSubagent: false,
    atMs: Date.parse(data.timestamp),
    toolUseId,
    exitCode: exitCodeIn(words),
    outputFile,
  };
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
