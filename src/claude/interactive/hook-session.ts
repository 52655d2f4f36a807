import { messageOf } from '../../base/errors.js';
import { Emitter } from '../../base/event.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { HookEvent, KnownHookEvent } from '../hooks/hook-event.js';
import type { SessionAnswer, SessionEvent, TurnFault } from '../session.js';
import { filesWritten, toolSummary } from '../tool-summary.js';
import { faultKindOf } from '../trouble/fault-kinds.js';
import { findTranscripts } from '../transcript-files.js';
import { TranscriptTail } from '../transcript-tail.js';
import { hookOutput, requestOf, type PermissionRequestEvent } from './hook-requests.js';

interface Waiting {
  readonly event: PermissionRequestEvent;
  readonly resolve: (output: Readonly<Record<string, unknown>>) => void;
  /** A person has typed at the terminal while it waited. */
  isTypedAt: boolean;
}

export interface HookSessionOptions {
  readonly cwd: string;
  /** The id that the CLI was given: a hook of another one, such as after `/clear`, does not change it. */
  readonly sessionId: string;
  /** Where the CLI keeps its transcripts on this machine; undefined where these are not to be read. */
  readonly configDir: string | undefined;
}

/** An empty hook output: the CLI goes on as if no hook were there. */
const NO_OPINION: Readonly<Record<string, unknown>> = {};

/**
 * One session as its hooks tell it. A permission request is held open until it is answered; it is gone when the CLI
 * closes the connection, which it does when a person answers at the terminal.
 */
export class HookSession implements Disposable {
  readonly #cwd: string;
  readonly #sessionId: string;
  readonly #configDir: string | undefined;
  readonly #fire: (event: SessionEvent) => void;
  readonly #waiting = new Map<string, Waiting>();
  readonly #plans = new Set<string>();
  readonly #closes = new Emitter<void>();
  /** After a request was answered or is gone. */
  readonly onDidClose = this.#closes.event;
  /** Requests that have arrived and are not open yet. */
  #arriving = 0;
  #transcript: TranscriptTail | undefined;
  #isTranscriptLost = false;
  #isLive = false;
  #nextRequest = 1;
  #reading: Promise<void> = Promise.resolve();
  #lastSaid = '';

  constructor({ cwd, sessionId, configDir }: HookSessionOptions, fire: (event: SessionEvent) => void) {
    this.#cwd = cwd;
    this.#sessionId = sessionId;
    this.#configDir = configDir;
    this.#fire = fire;
  }

  /** `live` once a hook came: from then on hooks decide and screen dialogs of running turns are not believed. */
  get state(): 'silent' | 'live' {
    return this.#isLive ? 'live' : 'silent';
  }

  async handle(event: HookEvent, gone: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    if (event.hook_event_name === 'other') return NO_OPINION;
    const isRequest = event.hook_event_name === 'PermissionRequest';
    if (isRequest) this.#arriving++;
    this.#meet();
    await this.#tellWhatWasSaid();
    if (isRequest) this.#arriving--;
    this.#closeAnswered(event);
    switch (event.hook_event_name) {
      case 'UserPromptSubmit':
        this.#fire({ type: 'turn-started', source: 'exact', prompt: event.prompt });
        return NO_OPINION;
      case 'PreToolUse':
        this.#fire({
          type: 'tool-started',
          tool: event.tool_name,
          summary: toolSummary(event.tool_name, event.tool_input, this.#cwd),
          input: event.tool_input,
        });
        return NO_OPINION;
      case 'PermissionRequest':
        return this.#ask(event, gone);
      case 'PostToolUse':
      case 'PostToolUseFailure':
        this.#fire({
          type: 'tool-finished',
          tool: event.tool_name,
          summary: toolSummary(event.tool_name, event.tool_input, this.#cwd),
          ok: event.hook_event_name === 'PostToolUse',
          filesChanged:
            event.hook_event_name === 'PostToolUse'
              ? filesWritten(event.tool_name, event.tool_input, event.cwd ?? this.#cwd)
              : [],
        });
        return NO_OPINION;
      case 'Notification':
        this.#fire({ type: 'notice', text: event.message });
        return NO_OPINION;
      case 'Stop':
        // The transcript is written a little later than the hook is posted.
        this.#say(event.last_assistant_message ?? '');
        this.#fire({
          type: 'turn-ended',
          source: 'exact',
          message: event.last_assistant_message ?? '',
          backgroundTasks: event.background_tasks.length,
        });
        return NO_OPINION;
      case 'StopFailure':
        this.#fire({
          type: 'turn-ended',
          source: 'exact',
          message: '',
          backgroundTasks: 0,
          error: failureOf(event),
        });
        return NO_OPINION;
      case 'SessionEnd':
        this.#fire({ type: 'notice', text: `The session ended (${event.reason})` });
        return NO_OPINION;
    }
  }

  /** False when no such request waits. */
  answer(requestId: string, answer: SessionAnswer): boolean {
    const waiting = this.#waiting.get(requestId);
    if (waiting === undefined) return false;
    this.#waiting.delete(requestId);
    waiting.resolve(hookOutput(waiting.event, answer));
    this.#closes.fire();
    return true;
  }

  /** Denies all that is open. False when nothing was. */
  denyAll(message: string): boolean {
    const open = [...this.#waiting.keys()];
    for (const requestId of open) {
      this.answer(requestId, { verdict: 'deny', message });
      this.#fire({ type: 'request-gone', requestId, why: message });
    }
    return open.length > 0;
  }

  /** A person types at the terminal: what is open now may be answered there. */
  typed(): void {
    for (const waiting of this.#waiting.values()) waiting.isTypedAt = true;
  }

  /** True while at least one request is open. */
  get isWaiting(): boolean {
    return this.#waiting.size + this.#arriving > 0;
  }

  isPlan(requestId: string): boolean {
    return this.#plans.has(requestId);
  }

  /** Gives up all that still waits. */
  withdraw(why: string): void {
    for (const requestId of [...this.#waiting.keys()]) this.#close(requestId, why);
  }

  dispose(): void {
    this.withdraw('the session was closed');
    this.#closes.dispose();
  }

  #close(requestId: string, why?: string): void {
    const waiting = this.#waiting.get(requestId);
    if (waiting === undefined) return;
    this.#waiting.delete(requestId);
    waiting.resolve(NO_OPINION);
    this.#fire({ type: 'request-gone', requestId, ...(why !== undefined && { why }) });
    this.#closes.fire();
  }

  /**
   * A person answered at the terminal: the CLI goes on, but leaves the hook's connection open (seen in 2.1.330). The tool
   * has run, or the turn is over, so the request needs no answer. Any program of the agent can post such an event, so it
   * closes only requests at which a person has typed; the others stay open, and keep the bridge from pressing keys.
   */
  #closeAnswered(event: KnownHookEvent): void {
    const name = event.hook_event_name;
    const hasRun = name === 'PostToolUse' || name === 'PostToolUseFailure';
    const isOver = name === 'Stop' || name === 'StopFailure' || name === 'UserPromptSubmit';
    if (!hasRun && !isOver) return;
    for (const [requestId, waiting] of [...this.#waiting]) {
      if (!waiting.isTypedAt || (hasRun && !isSameCall(waiting.event, event))) continue;
      this.#close(requestId);
    }
  }

  #meet(): void {
    if (this.#isLive) return;
    this.#isLive = true;
    this.#fire({ type: 'session', sessionId: this.#sessionId });
  }

  #ask(event: PermissionRequestEvent, gone: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    // It may have hung up while what was said before was read.
    if (gone.aborted) return Promise.resolve(NO_OPINION);
    const requestId = `hook-${this.#nextRequest++}`;
    if (event.tool_name === 'ExitPlanMode') this.#plans.add(requestId);
    return new Promise((resolve) => {
      this.#waiting.set(requestId, { event, resolve, isTypedAt: false });
      gone.addEventListener('abort', () => this.#close(requestId));
      this.#fire({ type: 'request', request: requestOf(requestId, event, this.#cwd) });
    });
  }

  #say(text: string): void {
    if (text === '' || text === this.#lastSaid) return;
    this.#lastSaid = text;
    this.#fire({ type: 'said', text });
  }

  /** What the assistant said since the last event, in order, one reader at a time. */
  #tellWhatWasSaid(): Promise<void> {
    this.#reading = this.#reading.then(async () => {
      try {
        if (this.#isTranscriptLost || this.#configDir === undefined) return;
        this.#transcript ??= await transcriptOf(this.#configDir, this.#sessionId);
        for (const text of (await this.#transcript?.readNew()) ?? []) this.#say(text);
      } catch (error) {
        // The transcript only makes the log richer; the hooks go on without it.
        this.#isTranscriptLost = true;
        this.#fire({ type: 'notice', text: `The transcript cannot be read: ${messageOf(error)}` });
      }
    });
    return this.#reading;
  }
}

async function transcriptOf(configDir: string, sessionId: string): Promise<TranscriptTail | undefined> {
  const [path] = await findTranscripts(configDir, sessionId);
  return path === undefined ? undefined : new TranscriptTail(path);
}

function failureOf(event: Extract<KnownHookEvent, { hook_event_name: 'StopFailure' }>): TurnFault {
  const text = event.last_assistant_message ?? event.error;
  return { kind: faultKindOf({ code: event.error, text }), text };
}

/** What a person answers at the terminal runs with the answer added to its input. */
const ANSWERED_TOOLS: ReadonlySet<string> = new Set(['AskUserQuestion', 'ExitPlanMode']);

function isSameCall(
  asked: PermissionRequestEvent,
  ran: Extract<KnownHookEvent, { hook_event_name: 'PostToolUse' | 'PostToolUseFailure' }>,
): boolean {
  if (asked.tool_name !== ran.tool_name) return false;
  if (!ANSWERED_TOOLS.has(asked.tool_name))
    return JSON.stringify(asked.tool_input) === JSON.stringify(ran.tool_input);
  return Object.entries(asked.tool_input).every(
    ([field, value]) => JSON.stringify(ran.tool_input[field]) === JSON.stringify(value),
  );
}
