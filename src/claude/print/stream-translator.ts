// Pure.
import { countedNoun, oneLine } from '../../base/text.js';
import type { Question, SessionAnswer, SessionEvent, TurnError } from '../session.js';
import { backgroundCommandEnd, IN_BACKGROUND } from '../command-outcome.js';
import { parseHookEvent, type KnownHookEvent } from '../hooks/hook-event.js';
import type { AccountLimit, ContentBlock } from '../message-content.js';
import { commandEnded, toolFinished, toolStarted, type ToolUsed } from '../tool-calls.js';
import { toolRequest } from '../tool-requests.js';
import { blockedByHook, exitCodeIn, toolOutcomes, type ToolOutcome } from '../transcript-entry.js';
import { troubleKindOf, turnError } from '../trouble/trouble-kind.js';
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

/** A permission request that is not answered yet. */
export interface PendingPermission {
  readonly input: ToolInput;
  readonly questions?: readonly Question[] | undefined;
  readonly toolUseId: string | undefined;
}

/** What is known of an open call, from its hook, its message, and the answer to its request. */
interface OpenCall {
  used?: ToolUsed;
  /** Where the shell stood before it. */
  folder?: string | undefined;
  verdict?: SessionAnswer['verdict'];
}

type Line<Type extends StreamLine['type']> = Extract<StreamLine, { type: Type }>;
type SystemLine<Subtype extends Line<'system'>['subtype']> = Extract<Line<'system'>, { subtype: Subtype }>;

/** Translates the lines of the stream into events of a session, and tracks open tool calls and requests. */
export class StreamTranslator {
  readonly #cwd: string;
  readonly #listener: StreamListener;
  readonly #calls = new Map<string, OpenCall>();
  /** Commands in the background, by the id of their call. */
  readonly #commands = new Map<string, ToolUsed>();
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
    if (asked?.toolUseId !== undefined) this.#call(asked.toolUseId).verdict = verdict;
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
    if (session !== this.#session)
      this.#listener.onEvent({
        type: 'session',
        sessionId,
        ...(model !== undefined && { model }),
        ...(cliVersion !== undefined && { cliVersion }),
      });
    this.#session = session;
    // Each turn begins with an init; a turn that the CLI starts itself, after a background task, has no prompt.
    const prompt = this.#prompts.splice(0).join('\n');
    this.#error = undefined;
    this.#listener.onEvent({ type: 'turn-started', source: 'exact', prompt });
  }

  #onRetry(line: SystemLine<'api_retry'>): void {
    const { attempt, retry_delay_ms: delayMs } = line;
    const [code, status] = [line.error ?? undefined, line.error_status ?? undefined];
    const cause = [status, code].filter((part) => part !== undefined).join(' ');
    const text = `API error (${cause}) · retrying in ${(delayMs / 1000).toFixed(1)} s · attempt ${attempt} of ${line.max_retries}`;
    const found = troubleKindOf({ code, status, text: '' });
    // Without a status the API did not answer.
    const kind = found === 'api-error' && status === undefined ? 'network' : found;
    this.#notice(text);
    this.#listener.onEvent({ type: 'retrying', kind, text, delayMs, attempt, source: 'exact' });
  }

  #onAssistant(line: Line<'assistant'>): void {
    const isError = line.error != null;
    const isSubagent = line.parent_tool_use_id != null;
    if (isError) this.#error = line;
    if (!isSubagent) this.#lastMessageId = line.uuid;
    for (const block of line.message.content) this.#onBlock(block, isSubagent, isError);
  }

  #onBlock(block: ContentBlock, isSubagent: boolean, isError: boolean): void {
    // An error is shown and reported at the end of its turn.
    if (block.type === 'text' && block.text.trim() !== '' && !isError) {
      this.#listener.onReadable(`● ${block.text}`);
      // A subagent's words are not the session's.
      if (!isSubagent) this.#listener.onEvent({ type: 'said', text: block.text });
    }
    if (block.type !== 'tool_use') return;
    const used = { id: block.id, tool: block.name, input: block.input };
    this.#call(block.id).used = used;
    const started = toolStarted(used, this.#cwd);
    this.#listener.onReadable(`● ${started.summary}`);
    this.#listener.onEvent(started);
  }

  #onOutcome(outcome: ToolOutcome): void {
    const { used, verdict } = this.#calls.get(outcome.id) ?? {};
    this.#calls.delete(outcome.id);
    if (used === undefined) return;
    this.#listener.onReadable(`  ⎿ ${oneLine(outcome.text, RESULT_CHARS)}`);
    const finished = toolFinished(used, asAnswered(outcome, verdict), this.#cwd);
    if (finished.command?.note === IN_BACKGROUND && this.#commands.size < MAX_OPEN_TOOLS)
      this.#commands.set(outcome.id, used);
    this.#listener.onEvent(finished);
  }

  #call(id: string): OpenCall {
    const [oldest] = this.#calls.keys();
    const call = this.#calls.get(id) ?? {};
    if (this.#calls.size >= MAX_OPEN_TOOLS && oldest !== undefined) this.#calls.delete(oldest);
    this.#calls.set(id, call);
    return call;
  }

  #onBackgroundEnded(line: SystemLine<'task_notification'>): void {
    this.#background.delete(line.task_id);
    const call = this.#commands.get(line.tool_use_id);
    if (call === undefined) return;
    this.#commands.delete(line.tool_use_id);
    const output = this.#listener.readOutput(line.output_file) ?? '';
    const end = backgroundCommandEnd(exitCodeIn(line.summary), output);
    this.#listener.onEvent(commandEnded(call, end, this.#cwd));
  }

  #onRequest({ request_id: requestId, request }: Line<'control_request'>): void {
    if (request.subtype === 'other') return this.#listener.onUnknownRequest(requestId, request.asks);
    if (request.subtype === 'can_use_tool') return this.#onPermission(requestId, request);
    const event = parseHookEvent(request.input);
    if (event === undefined || event.hook_event_name === 'other')
      return this.#listener.onUnknownRequest(requestId, request.subtype);
    if (event.hook_event_name === 'PreToolUse' && event.tool_use_id !== undefined)
      this.#call(event.tool_use_id).folder = event.cwd;
    return this.#listener.onHook(requestId, event);
  }

  #onPermission(
    requestId: string,
    asked: Extract<Line<'control_request'>['request'], { subtype: 'can_use_tool' }>,
  ): void {
    const { tool_name: tool, input, decision_reason, tool_use_id: toolUseId } = asked;
    const { folder } = this.#calls.get(toolUseId ?? '') ?? {};
    const why = this.#listener.reasonFor(tool, input) ?? decision_reason;
    const request = toolRequest({ requestId, tool, input, folder, why }, this.#cwd);
    this.#permissions.set(requestId, { input, toolUseId, questions: request.questions });
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
      const calls = countedNoun(denials.length, 'tool call was', 'tool calls were');
      this.#notice(`The turn reports success, but ${calls} denied: ${denied}`);
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
    const text = message === '' ? `Claude Code ended the turn with ${subtype}.` : message;
    if (terminal_reason === 'prompt_too_long') return { kind: 'context-full', text };
    const { error, api_error, api_error_status, api_error_params } = this.#error ?? {};
    return turnError(
      {
        code: error ?? undefined,
        detail: api_error ?? undefined,
        status: api_error_status ?? undefined,
        text,
      },
      api_error_params?.rate_limit_info ?? this.#limit,
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
  // Claude Code calls a denial by an answer one by a rule, too.
  if (verdict === 'deny') return { ...outcome, deniedBy: undefined, stopped: 'before' };
  const hasBegun = outcome.stopped === 'perhaps' && verdict !== undefined;
  return hasBegun ? { ...outcome, stopped: 'running' } : outcome;
}
