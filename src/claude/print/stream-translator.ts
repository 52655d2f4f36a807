// Pure.
import { commandOf } from '../../approvals/tool-table.js';
import { countedNoun, oneLine } from '../../base/text/text.js';
import type { SessionAnswer, SessionEvent, SessionRequest, TurnError } from '../session.js';
import { backgroundCommandEnd, IN_BACKGROUND } from '../command-outcome.js';
import type { KnownHookEvent } from '../hooks/hook-event.js';
import { toolFinished, toolStarted, type ToolUsed } from '../tool-events.js';
import { parseQuestions, toolSummary } from '../tool-summary.js';
import { blockedByHook, type ToolOutcome } from '../transcript-entry.js';
import { troubleKindOf } from '../trouble/trouble-kind.js';
import type { PendingPermission } from './control-messages.js';
import type { AssistantBlock, StreamEvent, StreamError, StreamLimit, ToolInput } from './stream-json.js';

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

type EventOf<Kind extends StreamEvent['kind']> = Extract<StreamEvent, { kind: Kind }>;

/** Translates the events of the stream into those of a session, and tracks open tool calls and requests. */
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
  readonly #background = new Set<string>();
  #prompts: string[] = [];
  #session = '';
  #error: StreamError | undefined;
  /** The last report of the account's limit. */
  #limit: StreamLimit | undefined;
  #lastMessageId: string | undefined;

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

  #blocked: string | undefined;

  accept(event: StreamEvent): void {
    switch (event.kind) {
      case 'init':
        return this.#onInit(event);
      case 'api-retry':
        return this.#onRetry(event);
      case 'limit':
        this.#limit = event.limit;
        return;
      case 'background-started':
        this.#background.add(event.taskId);
        return;
      case 'background-ended':
        return this.#onBackgroundEnded(event);
      case 'background-now':
        this.#background.clear();
        for (const taskId of event.taskIds) this.#background.add(taskId);
        return;
      case 'assistant':
        return this.#onAssistant(event);
      case 'tool-results':
        return this.#onToolResults(event);
      case 'prompt-blocked':
        this.#blocked = blockedByHook(event.reason);
        return;
      case 'result':
        return this.#onResult(event);
      case 'permission':
        return this.#onPermission(event);
      case 'request-cancelled':
        return this.#withdraw(event.requestId, 'Claude Code withdrew the request');
      case 'hook':
        return this.#onHook(event);
      case 'other-request':
        return this.#listener.onUnknownRequest(event.requestId, event.subtype);
      case 'control-failed':
        return this.#notice(`Claude Code refused a control request: ${oneLine(event.error, RESULT_CHARS)}`);
      case 'usage':
      case 'unknown':
        return;
    }
  }

  #onInit({ sessionId, model, cliVersion }: EventOf<'init'>): void {
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

  #onRetry({ attempt, maxRetries, delayMs, cause, code, status }: EventOf<'api-retry'>): void {
    const seconds = (delayMs / 1000).toFixed(1);
    const text = `API error (${cause}) · retrying in ${seconds} s · attempt ${attempt} of ${maxRetries}`;
    const kind = troubleKindOf({ code, status, text: '' });
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

  #onAssistant({ blocks, isSubagent, messageId, error }: EventOf<'assistant'>): void {
    if (error !== undefined) this.#error = error;
    if (!isSubagent) this.#lastMessageId = messageId;
    for (const block of blocks) this.#onBlock(block, isSubagent, error !== undefined);
  }

  #onBlock(block: AssistantBlock, isSubagent: boolean, isError: boolean): void {
    if (block.type === 'text') {
      if (block.text.trim() === '') return;
      // An error is shown and reported at the end of its turn.
      if (!isError) this.#listener.onReadable(`● ${block.text}`);
      // A subagent's words are not the session's.
      if (!isSubagent && !isError) this.#listener.onEvent({ type: 'said', text: block.text });
      return;
    }
    if (this.#openTools.size >= MAX_OPEN_TOOLS) this.#evictOldestTool();
    const call = { id: block.id, tool: block.name, input: block.input };
    this.#openTools.set(block.id, call);
    const started = toolStarted(call, this.#cwd);
    this.#listener.onReadable(`● ${started.summary}`);
    this.#listener.onEvent(started);
  }

  #onToolResults({ results }: EventOf<'tool-results'>): void {
    for (const outcome of results) {
      this.#folders.delete(outcome.id);
      const open = this.#openTools.get(outcome.id);
      if (!open) continue;
      this.#openTools.delete(outcome.id);
      const verdict = this.#verdicts.get(outcome.id);
      this.#verdicts.delete(outcome.id);
      this.#listener.onReadable(`  ⎿ ${oneLine(outcome.text, RESULT_CHARS)}`);
      const finished = toolFinished(open, asAnswered(outcome, verdict), this.#cwd);
      if (finished.command?.note === IN_BACKGROUND && this.#commands.size < MAX_OPEN_TOOLS)
        this.#commands.set(outcome.id, open);
      this.#listener.onEvent(finished);
    }
  }

  #onBackgroundEnded({ taskId, toolUseId = '', exitCode, outputFile }: EventOf<'background-ended'>): void {
    this.#background.delete(taskId);
    const call = this.#commands.get(toolUseId);
    if (call === undefined) return;
    this.#commands.delete(toolUseId);
    this.#listener.onEvent({
      type: 'command-ended',
      id: toolUseId,
      command: commandOf(call.tool, call.input) ?? '',
      summary: toolSummary(call.tool, call.input, this.#cwd),
      end: backgroundCommandEnd(exitCode, this.#listener.readOutput(outputFile) ?? ''),
    });
  }

  #onHook({ requestId, event }: EventOf<'hook'>): void {
    if (event.hook_event_name === 'PreToolUse' && this.#folders.size < MAX_OPEN_TOOLS)
      this.#folders.set(event.tool_use_id ?? '', event.cwd);
    this.#listener.onHook(requestId, event);
  }

  #onPermission({ requestId, tool, input, why, toolUseId }: EventOf<'permission'>): void {
    const questions = tool === 'AskUserQuestion' ? parseQuestions(input) : undefined;
    const request: SessionRequest = {
      requestId,
      kind: questions ? 'question' : tool === 'ExitPlanMode' ? 'plan' : 'permission',
      tool,
      input,
      folder: toolUseId === undefined ? undefined : this.#folders.get(toolUseId),
      summary: toolSummary(tool, input, this.#cwd),
      options: questions?.[0]?.options.map((option) => option.label) ?? [],
      ...(questions && { questions }),
      source: 'exact',
      why: this.#listener.reasonFor(tool, input) ?? why,
    };
    this.#permissions.set(requestId, {
      tool,
      input,
      toolUseId,
      ...(questions && { questions }),
    });
    this.#listener.onReadable(`? ${request.summary}`);
    this.#listener.onEvent({ type: 'request', request });
  }

  #onResult(result: EventOf<'result'>): void {
    // `aborted_tools`, `aborted_streaming`: the caller interrupted the turn; nothing failed.
    const interrupted = result.isError && result.terminalReason.startsWith('aborted');
    const error = result.isError && !interrupted ? this.#errorOf(result) : undefined;
    if (!result.isError && result.deniedTools.length > 0) {
      const denied = [...new Set(result.deniedTools)].join(', ');
      this.#notice(
        `The turn reports success, but ${countedNoun(result.deniedTools.length, 'tool call')} ${result.deniedTools.length === 1 ? 'was' : 'were'} denied: ${denied}`,
      );
    }
    if (error) this.#listener.onReadable(`✗ ${error.text}`);
    this.#error = undefined;
    if (!result.isError && !result.isTurn) {
      this.#listener.onEvent({ type: 'prompt-blocked', reason: this.#blocked ?? NO_TURN });
      this.#blocked = undefined;
      return;
    }
    this.#listener.onEvent({
      type: 'turn-ended',
      source: 'exact',
      message: result.message,
      backgroundTasks: this.#background.size,
      ...(this.#lastMessageId !== undefined && { messageId: this.#lastMessageId }),
      ...(interrupted && { interrupted }),
      ...(error && { error }),
      ...(result.usage && { usage: result.usage }),
    });
  }

  #errorOf({ message, subtype, terminalReason }: EventOf<'result'>): TurnError {
    const reported = this.#error;
    const limit = reported?.limit ?? this.#limit;
    const text = message === '' ? `Claude Code ended the turn with ${subtype}.` : message;
    const kind =
      terminalReason === 'prompt_too_long'
        ? 'context-full'
        : troubleKindOf({
            code: reported?.code,
            detail: reported?.detail,
            status: reported?.status,
            limitIsReached: limit?.isReached,
            text,
          });
    const resetsAtMs = kind === 'usage-limit' && limit?.isReached === true ? limit.resetsAtMs : undefined;
    return { kind, text, ...(resetsAtMs !== undefined && { resetsAtMs }) };
  }

  #withdraw(requestId: string, why: string): void {
    if (this.#permissions.delete(requestId)) this.#listener.onEvent({ type: 'request-gone', requestId, why });
  }

  #evictOldestTool(): void {
    const [oldest] = this.#openTools.keys();
    if (oldest !== undefined) this.#openTools.delete(oldest);
  }

  #notice(text: string): void {
    this.#listener.onReadable(`· ${text}`);
    this.#listener.onEvent({ type: 'notice', text });
  }
}

/** Of a call that was stopped, the answer to its request tells whether it had begun. */
function asAnswered(outcome: ToolOutcome, verdict: SessionAnswer['verdict'] | undefined): ToolOutcome {
  if (verdict === 'deny') return { ...outcome, stopped: 'before' };
  return outcome.stopped === 'perhaps' && verdict !== undefined
    ? { ...outcome, stopped: 'running' }
    : outcome;
}
