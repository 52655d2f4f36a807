import type { Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import { Emitter, toDisposable, type Disposable } from '../../base/lifecycle.js';
import type { HookEvent, KnownHookEvent } from '../hooks/hook-event.js';
import {
  MESSAGE_CHANGED,
  type SessionAnswer,
  type SessionEvent,
  type SessionGuard,
  type SessionRequest,
  type TurnError,
} from '../session.js';
import { elicitationOutput, elicitationRequest, type ElicitationEvent } from '../hooks/elicitation.js';
import { callIn, type EndedHook } from '../tool-calls.js';
import {
  GuardedCalls,
  hookOutput,
  interruptOutput,
  requestOf,
  toolOutput,
  type PermissionRequestEvent,
} from '../tool-requests.js';
import { turnError } from '../trouble/trouble-kind.js';
import { SessionTranscript, type SessionTranscriptOptions } from './session-transcript.js';
import { arrivalOf, type Typed } from './composer.js';

type StopFailureEvent = Extract<KnownHookEvent, { hook_event_name: 'StopFailure' }>;
type RequestEvent = PermissionRequestEvent | ElicitationEvent;

interface Waiting {
  readonly event: RequestEvent;
  readonly resolve: (output: Readonly<Record<string, unknown>>) => void;
  /** A person typed at the terminal while it waited. */
  isTypedAt: boolean;
}

export interface HookSessionOptions extends SessionTranscriptOptions {
  readonly guard: SessionGuard;
  /** With which the session begins. */
  readonly prompt: string;
}

/** A text that will become a prompt. */
interface Expected {
  readonly text: string;
  /** How often a person had typed before it. */
  readonly typed: number;
  readonly arrived: () => void;
  /** Enter was pressed: it can arrive. */
  isEntered: boolean;
}

/** A body has up to 8 MB, and the hooks server no longer counts one that was answered: with more than these, a tool waits too. */
const MAX_UNREPORTED = 4;
/** An empty hook output: the CLI goes on as without a hook. */
const NO_OPINION: Readonly<Record<string, unknown>> = {};

/**
 * Translates the hooks of one session into events. A permission request stays open until it is answered; it is gone when the CLI
 * closes the connection, which it does when a person answers at the terminal.
 */
export class HookSession implements Disposable {
  readonly #cwd: string;
  readonly #calls: GuardedCalls;
  readonly #sessionId: string;
  readonly #clock: Clock;
  readonly #transcript: SessionTranscript;
  readonly #fire: (event: SessionEvent) => void;
  readonly #waiting = new Map<string, Waiting>();
  readonly #plans = new Set<string>();
  readonly #closes = new Emitter<void>();
  /** Fires after a request was answered or has gone. */
  readonly onDidClose = this.#closes.event;
  /** Requests that have arrived but are not open yet. */
  #arriving = 0;
  /** Resolves when all hooks so far are reported. */
  #order: Promise<void> = Promise.resolve();
  #unreported = 0;
  /** How often a person typed. */
  #typed = 0;
  /** Why no call may run: the turn is being interrupted. */
  #stop: string | undefined;
  #isLive = false;
  #nextRequest = 1;
  #expected: Expected | undefined;

  /** A hook with another session id than that of `options`, such as after `/clear`, does not change it. */
  constructor(options: HookSessionOptions, fire: (event: SessionEvent) => void) {
    this.#cwd = options.cwd;
    this.#sessionId = options.sessionId;
    this.#clock = options.clock;
    this.#transcript = new SessionTranscript(options, fire);
    this.#calls = new GuardedCalls(options.guard, (text) => fire({ type: 'notice', text }));
    this.#fire = fire;
    this.expect(options.prompt).entered();
  }

  /** `live` after the first hook: from then on dialogs on the screen are not trusted. */
  get state(): 'silent' | 'live' {
    return this.#isLive ? 'live' : 'silent';
  }

  /**
   * Reports the event after those before it, and after what the assistant said before it. A tool does not wait for that: its hook is
   * answered at once.
   */
  async handle(event: HookEvent, gone: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    if (event.hook_event_name === 'other') return NO_OPINION;
    // Comes before the first prompt, when dialogs of the start may still be on the screen.
    if (event.hook_event_name === 'InstructionsLoaded') return this.#calls.output(event);
    const isRequest =
      event.hook_event_name === 'PermissionRequest' || event.hook_event_name === 'Elicitation';
    if (isRequest) this.#arriving++;
    this.#becomeLive();
    const postedMs = this.#clock.monotonicMs();
    const typed = this.#typed;
    const reported = this.#order.then(async () => {
      await this.#transcript.readUntil(awaitedBy(event), postedMs);
      if (isRequest) this.#arriving--;
      this.#closeAnswered(event);
      // An open request does not keep later events waiting.
      return { output: this.#report(event, gone, this.#typed > typed) };
    });
    this.#order = reported.then(
      () => undefined,
      (error: unknown) =>
        this.#fire({ type: 'notice', text: `A hook could not be reported: ${messageOf(error)}` }),
    );
    this.#unreported++;
    void this.#order.then(() => this.#unreported--);
    if (isToolEvent(event) && this.#unreported <= MAX_UNREPORTED) return this.#judged(event);
    const { output } = await reported;
    return isToolEvent(event) ? this.#judged(event) : output;
  }

  /** What the bridge says of a call before it. */
  async #judged(event: KnownHookEvent): Promise<Readonly<Record<string, unknown>>> {
    if (event.hook_event_name !== 'PreToolUse' || this.#stop === undefined) return this.#calls.output(event);
    return toolOutput('deny', this.#stop);
  }

  #report(
    event: KnownHookEvent,
    gone: AbortSignal,
    isTypedAt: boolean,
  ): Readonly<Record<string, unknown>> | Promise<Readonly<Record<string, unknown>>> {
    switch (event.hook_event_name) {
      case 'UserPromptSubmit':
        this.#transcript.turnStarted();
        this.#fire({ type: 'turn-started', source: 'exact', prompt: event.prompt });
        return this.#arrive(event.prompt);
      case 'PreToolUse':
        this.#transcript.started(callIn(event));
        return NO_OPINION;
      case 'PermissionRequest':
      case 'Elicitation':
        return this.#ask(event, gone, isTypedAt);
      case 'PostToolUse':
      case 'PostToolUseFailure':
        this.#transcript.finished(event);
        return NO_OPINION;
      case 'Notification':
        if (!isOfRequest(event)) this.#fire({ type: 'notice', text: event.message });
        return NO_OPINION;
      case 'Stop':
        // The transcript is written a little later than the hook is posted.
        this.#transcript.sayLast(event.last_assistant_message ?? '');
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
          error: this.#failureOf(event),
        });
        return NO_OPINION;
      case 'SubagentStart':
        return this.#calls.output(event);
      case 'InstructionsLoaded':
        return NO_OPINION;
      case 'SessionEnd':
        // The end of the program is reported anyway; only these ends are a person's.
        if (event.reason === 'clear') this.#fire({ type: 'notice', text: 'The conversation was cleared' });
        if (event.reason === 'logout') this.#fire({ type: 'notice', text: 'Claude Code was logged out' });
        return NO_OPINION;
    }
  }

  #failureOf({ error: code, last_assistant_message }: StopFailureEvent): TurnError {
    const { detail, status, limit } = this.#transcript.error ?? {};
    return turnError({ code, detail, status, text: last_assistant_message ?? code }, limit);
  }

  /** What is about to be typed; `arrived` resolves when a hook reports it as a prompt. Dispose it when that is no longer waited for. */
  expect(text: string): Disposable & Typed {
    let resolve = (): void => undefined;
    const arrived = new Promise<void>((done) => (resolve = done));
    const expected: Expected = { text, typed: this.#typed, arrived: resolve, isEntered: false };
    this.#expected = expected;
    return {
      text,
      arrived,
      entered: () => (expected.isEntered = true),
      dispose: () => (this.#expected = undefined),
    };
  }

  /** The prompt or message that is on its way. */
  get expected(): string | undefined {
    return this.#expected?.text;
  }

  /** Not all of a text is a prompt as it is, such as tabs: then the model gets the exact text beside the prompt. */
  #arrive(prompt: string): Readonly<Record<string, unknown>> {
    const expected = this.#expected;
    if (expected === undefined) return NO_OPINION;
    const isSole = expected.isEntered && expected.typed === this.#typed;
    const arrival = arrivalOf(prompt, expected.text, isSole);
    if (arrival === 'other') return NO_OPINION;
    this.#expected = undefined;
    expected.arrived();
    if (arrival === 'exact') return NO_OPINION;
    this.#fire({
      type: 'notice',
      text: MESSAGE_CHANGED,
    });
    return {
      hookSpecificOutput: {
        hookEventName: 'UserPromptSubmit',
        additionalContext: `The terminal changed this prompt. Its exact text:\n${expected.text}`,
      },
    };
  }

  /** Resolves when all hooks so far are reported: a request among them is open then. */
  reported(): Promise<void> {
    return this.#order;
  }

  /** Reports what is new in the transcript, after all hooks so far. */
  async readTranscript(): Promise<void> {
    await this.#order;
    await this.#transcript.read();
  }

  /** The transcript has an answer of the model. */
  get hasAnswered(): boolean {
    return this.#transcript.hasAnswer;
  }

  /** The turn was interrupted: no hook reports the commands that ran. */
  turnInterrupted(): void {
    this.#transcript.turnInterrupted();
  }

  /** False when there is no such pending request. */
  answer(requestId: string, answer: SessionAnswer): boolean {
    const waiting = this.#waiting.get(requestId);
    if (waiting === undefined) return false;
    this.#waiting.delete(requestId);
    if (answer.verdict === 'deny') this.#toolEnded(waiting.event);
    waiting.resolve(outputFor(waiting.event, answer));
    this.#closes.fire();
    return true;
  }

  /**
   * Until the result is disposed no call of a tool runs, and each request, those that are open first, is answered with a denial that
   * ends its turn.
   */
  stop(why: string): Disposable {
    this.#stop = why;
    for (const [requestId, { event, resolve }] of [...this.#waiting]) {
      this.#waiting.delete(requestId);
      this.#toolEnded(event);
      resolve(stopOutput(event, why));
      this.#fire({ type: 'request-gone', requestId, why });
      this.#closes.fire();
    }
    return toDisposable(() => (this.#stop = undefined));
  }

  /** A person typed at the terminal, so any open request may be answered there. */
  typed(): void {
    this.#typed++;
    for (const waiting of this.#waiting.values()) waiting.isTypedAt = true;
  }

  /** True while at least one request is open. */
  get isWaiting(): boolean {
    return this.#waiting.size + this.#arriving > 0;
  }

  isPlan(requestId: string): boolean {
    return this.#plans.has(requestId);
  }

  /** Withdraws all pending requests. */
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
    // Whether it was allowed or denied is not known.
    this.#toolEnded(waiting.event);
    waiting.resolve(NO_OPINION);
    this.#fire({ type: 'request-gone', requestId, ...(why !== undefined && { why }) });
    this.#closes.fire();
  }

  /**
   * Closes requests that a person answered at the terminal, where the CLI leaves the hook's connection open (seen in 2.1.330): when
   * the tool has run or the turn is over, no answer is needed. Any program of the agent can post such an event, so it closes only
   * requests during which a person typed; the others stay open and keep the bridge from pressing keys.
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

  #becomeLive(): void {
    if (this.#isLive) return;
    this.#isLive = true;
    this.#fire({ type: 'session', sessionId: this.#sessionId });
  }

  #toolEnded(event: RequestEvent): void {
    if (event.hook_event_name === 'PermissionRequest')
      this.#transcript.closed({ id: undefined, tool: event.tool_name, input: event.tool_input });
  }

  #ask(
    event: RequestEvent,
    gone: AbortSignal,
    isTypedAt: boolean,
  ): Promise<Readonly<Record<string, unknown>>> {
    // The CLI may have hung up while the transcript was read.
    if (gone.aborted) {
      this.#closes.fire();
      return Promise.resolve(NO_OPINION);
    }
    if (this.#stop !== undefined) {
      this.#toolEnded(event);
      this.#closes.fire();
      return Promise.resolve(stopOutput(event, this.#stop));
    }
    const requestId = `hook-${this.#nextRequest++}`;
    return new Promise((resolve) => {
      this.#waiting.set(requestId, { event, resolve, isTypedAt });
      gone.addEventListener('abort', () => this.#close(requestId));
      this.#fire({ type: 'request', request: this.#requestOf(requestId, event) });
    });
  }

  #requestOf(requestId: string, event: RequestEvent): SessionRequest {
    if (event.hook_event_name === 'Elicitation') return elicitationRequest(requestId, event);
    if (event.tool_name === 'ExitPlanMode') this.#plans.add(requestId);
    const why = this.#calls.takeReason(event.tool_name, event.tool_input);
    return { ...requestOf(requestId, event, this.#cwd), why };
  }
}

function isToolEvent({ hook_event_name }: KnownHookEvent): boolean {
  return ['PreToolUse', 'PostToolUse', 'PostToolUseFailure'].includes(hook_event_name);
}

/** What the session's own transcript will have: a subagent has another one. */
function awaitedBy(event: KnownHookEvent): { readonly call?: string | undefined; readonly error?: true } {
  if (event.hook_event_name === 'StopFailure') return { error: true };
  return 'tool_use_id' in event && event.agent_id === undefined ? { call: event.tool_use_id } : {};
}

/** Claude Code tells its person to look: a request is a decision already, and an idle session has its status. */
function isOfRequest({
  message,
  notification_type = '',
}: Extract<KnownHookEvent, { hook_event_name: 'Notification' }>): boolean {
  return (
    notification_type === 'permission_prompt' ||
    notification_type === 'idle_prompt' ||
    /^Claude (needs your|is waiting for your)\b/.test(message)
  );
}

/** When a person answers these at the terminal, the tool runs with the answer added to its input. */
const ANSWERED_TOOLS: ReadonlySet<string> = new Set(['AskUserQuestion', 'ExitPlanMode']);

function outputFor(event: RequestEvent, answer: SessionAnswer): Readonly<Record<string, unknown>> {
  return event.hook_event_name === 'Elicitation'
    ? elicitationOutput(event, answer)
    : hookOutput(event, answer);
}

/** What an interrupt answers: a form can only be declined. */
function stopOutput(event: RequestEvent, message: string): Readonly<Record<string, unknown>> {
  return event.hook_event_name === 'Elicitation'
    ? elicitationOutput(event, { verdict: 'deny', message })
    : interruptOutput(message);
}

function isSameCall(asked: RequestEvent, ran: EndedHook): boolean {
  // A form is open during a call of its server.
  if (asked.hook_event_name === 'Elicitation') return ran.tool_name.startsWith('mcp__');
  if (asked.tool_name !== ran.tool_name) return false;
  if (!ANSWERED_TOOLS.has(asked.tool_name))
    return JSON.stringify(asked.tool_input) === JSON.stringify(ran.tool_input);
  return Object.entries(asked.tool_input).every(
    ([field, value]) => JSON.stringify(ran.tool_input[field]) === JSON.stringify(value),
  );
}
