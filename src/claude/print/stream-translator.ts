// Pure.
import { countedNoun, oneLine } from '../../base/text.js';
import type { SessionAnswer, SessionEvent, TurnError } from '../session.js';
import { backgroundCommandEnd, IN_BACKGROUND } from '../command-outcome.js';
import { parseHookEvent, type KnownHookEvent } from '../hooks/hook-event.js';
import type { AccountLimit, ContentBlock } from '../message-content.js';
import { commandEnded, toolFinished, toolStarted, type ToolUsed } from '../tool-calls.js';
import { toolRequest } from '../tool-requests.js';
import { blockedByHook, exitCodeIn, toolOutcomes, type ToolOutcome } from '../transcript-entry.js';
import { troubleKindOf, turnError } from '../trouble/trouble-kind.js';
import type { PendingPermission } from './control-messages.js';
import type { StreamLine, ToolInput } from './stream-line.js';

/** More than the tool calls that are open at the same time; beyond it the oldest are evicted. */
const MAX_OPEN_TOOLS = 1_000;
/** Enough of a tool's result to see its outcome. */
const RESULT_CHARS = 300;
const NO_TURN = 'Claude Code answered the prompt itself and did not ask the model.';

export interface StreamListener {
  onEvent(event: SessionEvent): void;
  /** A line that a person would read, without its newline. */
  onReadable(text: string): void;
  /** A request that the bridge does not handle; it must be refused, so that the CLI goes on. */
  onUnknownRequest(requestId: string, subtype: string): void;
  /** A hook of the session, which waits for its output. */
  onHook(requestId: string, event: KnownHookEvent): void;
  /** What a command of the session has printed, from the file in which Claude Code collects it. */
  readOutput(path: string): string | undefined;
  /** Why the bridge had Claude Code ask about this call, if it had. */
  reasonFor(tool: string, input: ToolInput): string | undefined;
}

type Line<Type extends StreamLine['type']> = Extract<StreamLine, { type: Type }>;
type SystemLine<Subtype extends Line<'system'>['subtype']> = Extract<Line<'system'>, { subtype: Subtype }>;

/** Translates the lines of the stream into events of a session, and tracks open tool calls and requests. */
export class StreamTranslator {
  readonly #cwd: string;
  readonly #listener: StreamListener;
  readonly #openTools = new Map<string, ToolUsed>();
  /** Commands in the background, by the id of their call. */
  readonly #commands = new Map<string, ToolUsed>();
  /** Where the shell stood before each call. */
  readonly #folders = new Map<string, string | undefined>();
  /** The verdict on each open tool call that was asked about. */
  readonly #verdicts = new Map<string, SessionAnswer['verdict']>();
  readonly #permissions = new Map<string, PendingPermission>();
  #background = new Set<string>();
  #prompts: string[] = [];
  #session = '';
  /** The message that the CLI wrote because the API failed. */
  #error: Line<'assistant'> | undefined;
  /** The last report of the account's limit. */
  #limit: AccountLimit | undefined;
  #lastMessageId: string | undefined;
  #blocked: string | undefined;

  constructor(cwd: string, listener: StreamListener) {
    this.#cwd = cwd;
    this.#listener = listener;
  }

  /** A message was written to the CLI; the next turn answers it. */
  promptSent(text: string): void {
    this.#prompts.push(text);
  }

  /** Removes and returns the request, so that only the first answer counts. */
  takePermission(requestId: string, verdict: SessionAnswer['verdict']): PendingPermission | undefined {
    const asked = this.#permissions.get(requestId);
    this.#permissions.delete(requestId);
    if (asked?.toolUseId !== undefined && this.#verdicts.size < MAX_OPEN_TOOLS)
      this.#verdicts.set(asked.toolUseId, verdict);
    return asked;
  }

  /** The session has ended: withdraws all pending requests. */
  withdrawAll(why: string): void {
    for (const requestId of [...this.#permissions.keys()]) this.#withdraw(requestId, why);
  }

  accept(line: StreamLine): void {
    switch (line.type) {
      case 'system':
        return this.#onSystem(line);
      case 'rate_limit_event':
        this.#limit = line.rate_limit_info;
        return;
      case 'assistant':
        return this.#onAssistant(line);
      case 'user':
        for (const outcome of outcomesIn(line)) this.#onOutcome(outcome);
        return;
      case 'result':
        return this.#onResult(line);
      case 'control_request':
        return this.#onRequest(line);
      case 'control_cancel_request':
        return this.#withdraw(line.request_id, 'Claude Code withdrew the request');
      case 'control_response':
        if (line.response.subtype !== 'error') return;
        return this.#notice(
          `Claude Code refused a control request: ${oneLine(line.response.error, RESULT_CHARS)}`,
        );
      case 'other':
        return;
    }
  }

  #onSystem(line: Line<'system'>): void {
    switch (line.subtype) {
      case 'init':
        return this.#onInit(line);
      case 'informational':
        this.#blocked = blockedByHook(line.prompt_submit_outcome.reason);
        return;
      case 'api_retry':
        return this.#onRetry(line);
      case 'task_started':
        this.#background.add(line.task_id);
        return;
      case 'task_notification':
        return this.#onBackgroundEnded(line);
      case 'background_tasks_changed':
        this.#background = new Set(line.tasks.map(({ task_id }) => task_id));
        return;
    }
  }

  #onInit({ session_id: sessionId, model, claude_code_version: cliVersion }: SystemLine<'init'>): void {
    const session = JSON.stringify([sessionId, model, cliVersion]);
    if (session !== this.#session) {
      this.#session = session;
      this.#listener.onEvent({
        type: 'session',
        sessionId,
        ...(model !== undefined && { model }),
        ...(cliVersion !== undefined && { cliVersion }),
      });
    }
    // Each turn begins with an init; a turn that the CLI starts itself, after a background task, has no prompt.
    const prompt = this.#prompts.join('\n');
    this.#prompts = [];
    this.#error = undefined;
    this.#listener.onEvent({ type: 'turn-started', source: 'exact', prompt });
  }

  #onRetry(line: SystemLine<'api_retry'>): void {
    const { attempt, retry_delay_ms: delayMs, error, error_status } = line;
    const status = error_status ?? undefined;
    const cause = [status, error].filter((part) => part != null).join(' ');
    const text = `API error (${cause}) · retrying in ${(delayMs / 1000).toFixed(1)} s · attempt ${attempt} of ${line.max_retries}`;
    const kind = troubleKindOf({ code: error ?? undefined, status, text: '' });
    this.#notice(text);
    this.#listener.onEvent({
      type: 'retrying',
      // Without a status the API did not answer.
      kind: kind === 'api-error' && status === undefined ? 'network' : kind,
      text,
      delayMs,
      attempt,
      source: 'exact',
    });
  }

  #onAssistant(line: Line<'assistant'>): void {
    const isError = line.error != null;
    const isSubagent = line.parent_tool_use_id != null;
    if (isError) this.#error = line;
    if (!isSubagent) this.#lastMessageId = line.uuid;
    for (const block of line.message.content) this.#onBlock(block, isSubagent, isError);
  }

  #onBlock(block: ContentBlock, isSubagent: boolean, isError: boolean): void {
    if (block.type === 'text') {
      // An error is shown and reported at the end of its turn.
      if (block.text.trim() === '' || isError) return;
      this.#listener.onReadable(`● ${block.text}`);
      // A subagent's words are not the session's.
      if (!isSubagent) this.#listener.onEvent({ type: 'said', text: block.text });
    }
    if (block.type !== 'tool_use') return;
    const [oldest] = this.#openTools.keys();
    if (this.#openTools.size >= MAX_OPEN_TOOLS && oldest !== undefined) this.#openTools.delete(oldest);
    const call = { id: block.id, tool: block.name, input: block.input };
    this.#openTools.set(block.id, call);
    const started = toolStarted(call, this.#cwd);
    this.#listener.onReadable(`● ${started.summary}`);
    this.#listener.onEvent(started);
  }

  #onOutcome(outcome: ToolOutcome): void {
    this.#folders.delete(outcome.id);
    const open = this.#openTools.get(outcome.id);
    if (!open) return;
    this.#openTools.delete(outcome.id);
    const verdict = this.#verdicts.get(outcome.id);
    this.#verdicts.delete(outcome.id);
    this.#listener.onReadable(`  ⎿ ${oneLine(outcome.text, RESULT_CHARS)}`);
    const finished = toolFinished(open, asAnswered(outcome, verdict), this.#cwd);
    if (finished.command?.note === IN_BACKGROUND && this.#commands.size < MAX_OPEN_TOOLS)
      this.#commands.set(outcome.id, open);
    this.#listener.onEvent(finished);
  }

  #onBackgroundEnded(line: SystemLine<'task_notification'>): void {
    this.#background.delete(line.task_id);
    const call = this.#commands.get(line.tool_use_id);
    if (call === undefined) return;
    this.#commands.delete(line.tool_use_id);
    const output = this.#listener.readOutput(line.output_file) ?? '';
    this.#listener.onEvent(
      commandEnded(call, backgroundCommandEnd(exitCodeIn(line.summary), output), this.#cwd),
    );
  }

  #onRequest({ request_id: requestId, request }: Line<'control_request'>): void {
    switch (request.subtype) {
      case 'can_use_tool':
        return this.#onPermission(requestId, request);
      case 'hook_callback': {
        const event = parseHookEvent(request.input);
        if (event === undefined || event.hook_event_name === 'other')
          return this.#listener.onUnknownRequest(requestId, request.subtype);
        if (event.hook_event_name === 'PreToolUse' && this.#folders.size < MAX_OPEN_TOOLS)
          this.#folders.set(event.tool_use_id ?? '', event.cwd);
        return this.#listener.onHook(requestId, event);
      }
      case 'other':
        return this.#listener.onUnknownRequest(requestId, request.asks);
    }
  }

  #onPermission(
    requestId: string,
    asked: Extract<Line<'control_request'>['request'], { subtype: 'can_use_tool' }>,
  ): void {
    const { tool_name: tool, input, decision_reason, tool_use_id: toolUseId } = asked;
    const request = toolRequest(
      {
        requestId,
        tool,
        input,
        folder: toolUseId === undefined ? undefined : this.#folders.get(toolUseId),
        why: this.#listener.reasonFor(tool, input) ?? decision_reason,
      },
      this.#cwd,
    );
    const { questions } = request;
    this.#permissions.set(requestId, { tool, input, toolUseId, ...(questions && { questions }) });
    this.#listener.onReadable(`? ${request.summary}`);
    this.#listener.onEvent({ type: 'request', request });
  }

  #onResult(result: Line<'result'>): void {
    const { is_error: isError, permission_denials: denials, modelUsage: models } = result;
    const message = result.result ?? result.errors.join('\n');
    // `aborted_tools`, `aborted_streaming`: the caller interrupted the turn; nothing failed.
    const interrupted = isError && result.terminal_reason?.startsWith('aborted') === true;
    const error = isError && !interrupted ? this.#errorOf(result, message) : undefined;
    if (!isError && denials.length > 0) {
      const denied = [...new Set(denials.map(({ tool_name }) => tool_name))].join(', ');
      this.#notice(
        `The turn reports success, but ${countedNoun(denials.length, 'tool call')} ${denials.length === 1 ? 'was' : 'were'} denied: ${denied}`,
      );
    }
    if (error) this.#listener.onReadable(`✗ ${error.text}`);
    this.#error = undefined;
    if (!isError && result.num_turns === 0) {
      this.#listener.onEvent({ type: 'prompt-blocked', reason: this.#blocked ?? NO_TURN });
      this.#blocked = undefined;
      return;
    }
    this.#listener.onEvent({
      type: 'turn-ended',
      source: 'exact',
      message,
      backgroundTasks: this.#background.size,
      ...(this.#lastMessageId !== undefined && { messageId: this.#lastMessageId }),
      ...(interrupted && { interrupted }),
      ...(error && { error }),
      ...(models && { usage: { models, costUsd: result.total_cost_usd ?? null } }),
    });
  }

  #errorOf({ subtype, terminal_reason }: Line<'result'>, message: string): TurnError {
    const reported = this.#error;
    const text = message === '' ? `Claude Code ended the turn with ${subtype}.` : message;
    if (terminal_reason === 'prompt_too_long') return { kind: 'context-full', text };
    return turnError(
      {
        code: reported?.error ?? undefined,
        detail: reported?.api_error ?? undefined,
        status: reported?.api_error_status ?? undefined,
        text,
      },
      reported?.api_error_params?.rate_limit_info ?? this.#limit,
    );
  }

  #withdraw(requestId: string, why: string): void {
    if (this.#permissions.delete(requestId)) this.#listener.onEvent({ type: 'request-gone', requestId, why });
  }

  #notice(text: string): void {
    this.#listener.onReadable(`· ${text}`);
    this.#listener.onEvent({ type: 'notice', text });
  }
}

/** The outcomes of calls, and of those that did not run or were stopped what is known of it. */
function outcomesIn({ message, tool_use_result, tool_result_meta }: Line<'user'>): ToolOutcome[] {
  return toolOutcomes(message.content, tool_use_result).map((outcome) => {
    const kind = tool_result_meta.find(({ id }) => id === outcome.id)?.non_execution_kind;
    if (kind === undefined) return outcome;
    if (kind === 'permission-rule') return { ...outcome, deniedBy: 'denied by a rule' };
    // An interrupt has the same kind as a refusal at the dialog.
    return { ...outcome, stopped: kind === 'user-rejected' ? 'perhaps' : 'before' };
  });
}

/** Of a call that was stopped, the answer to its request tells whether it had begun. */
function asAnswered(outcome: ToolOutcome, verdict: SessionAnswer['verdict'] | undefined): ToolOutcome {
  if (verdict === 'deny') return { ...outcome, stopped: 'before' };
  return outcome.stopped === 'perhaps' && verdict !== undefined
    ? { ...outcome, stopped: 'running' }
    : outcome;
}
