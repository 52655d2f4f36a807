import { messageOf } from '../../base/errors.js';
import { Emitter, toDisposable, type Disposable } from '../../base/lifecycle.js';
import { elicitationOutput, elicitationRequest, type ElicitationEvent } from '../hooks/elicitation.js';
import type { HookEvent, HookOf, KnownHookEvent } from '../hooks/hook-event.js';
import {
  MESSAGE_CHANGED,
  type SessionAnswer,
  type SessionEvent,
  type SessionGuard,
  type SessionRequest,
} from '../session.js';
import { callIn, isSameUse, type EndedHook } from '../tool-calls.js';
import {
  GuardedCalls,
  hookOutput,
  interruptOutput,
  requestOf,
  toolOutput,
  type PermissionRequestEvent,
} from '../tool-requests.js';
import { turnError } from '../trouble/trouble-kind.js';
import { arrivalOf, type Typed } from './composer.js';
import { SessionTranscript, type SessionTranscriptOptions } from './session-transcript.js';

type RequestEvent = PermissionRequestEvent | ElicitationEvent;
type Output = Readonly<Record<string, unknown>>;

interface Waiting {
  readonly event: RequestEvent;
  readonly resolve: (output: Output) => void;
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
const NO_OPINION: Output = {};

/**
 * Translates the hooks of one session into events. A permission request stays open until it is answered; it is gone when the CLI
 * closes the connection, which it does when a person answers at the terminal.
 */
export class HookSession implements Disposable {
  readonly #options: HookSessionOptions;
  readonly #calls: GuardedCalls;
  readonly #transcript: SessionTranscript;
  readonly #fire: (event: SessionEvent) => void;
  readonly #waiting = new Map<string, Waiting>();
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
    this.#options = options;
    this.#transcript = new SessionTranscript(options, fire);
    this.#calls = new GuardedCalls(options.guard, (text) => fire({ type: 'notice', text }));
    this.#fire = fire;
    this.expect(options.prompt).entered();
  }

  /** True after the first hook: from then on dialogs on the screen are not trusted. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /** True while at least one request is open. */
  get isWaiting(): boolean {
    return this.#waiting.size + this.#arriving > 0;
  }

  /** The prompt or message that is on its way. */
  get expected(): string | undefined {
    return this.#expected?.text;
  }

  /**
   * Reports the event after those before it, and after what the assistant said before it. A tool does not wait for that: its hook is
   * answered at once.
   */
  async handle(event: HookEvent, gone: AbortSignal): Promise<Output> {
    if (event.hook_event_name === 'other') return NO_OPINION;
    // Comes before the first prompt, when dialogs of the start may still be on the screen.
    if (event.hook_event_name === 'InstructionsLoaded') return this.#calls.output(event);
    const isRequest =
      event.hook_event_name === 'PermissionRequest' || event.hook_event_name === 'Elicitation';
    if (isRequest) this.#arriving++;
    if (!this.#isLive) this.#fire({ type: 'session', sessionId: this.#options.sessionId });
    this.#isLive = true;
    const postedMs = this.#options.clock.monotonicMs();
    const typed = this.#typed;
    const reported = this.#order.then(async () => {
      await this.#transcript.readUntil(awaitedBy(event), postedMs);
      if (isRequest) this.#arriving--;
      this.#closeAnswered(event);
      // An open request does not keep later events waiting.
      return { output: this.#report(event, gone, this.#typed > typed) };
    });
    this.#unreported++;
    this.#order = reported.then(
      () => void this.#unreported--,
      (error: unknown) => {
        this.#unreported--;
        this.#fire({ type: 'notice', text: `A hook could not be reported: ${messageOf(error)}` });
      },
    );
    const isTool = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure'].includes(event.hook_event_name);
    if (isTool && this.#unreported <= MAX_UNREPORTED) return this.#judged(event);
    const { output } = await reported;
    return isTool ? this.#judged(event) : output;
  }

  /** What the bridge says of a call before it. */
  async #judged(event: KnownHookEvent): Promise<Output> {
    if (event.hook_event_name !== 'PreToolUse' || this.#stop === undefined) return this.#calls.output(event);
    return toolOutput('deny', this.#stop);
  }

  #report(event: KnownHookEvent, gone: AbortSignal, isTypedAt: boolean): Output | Promise<Output> {
    switch (event.hook_event_name) {
      case 'UserPromptSubmit':
        this.#transcript.turnStarted();
        this.#fire({ type: 'turn-started', source: 'exact', prompt: event.prompt });
        return this.#arrive(event.prompt);
      case 'PreToolUse':
        this.#transcript.started(callIn(event));
        break;
      case 'PermissionRequest':
      case 'Elicitation':
        return this.#ask(event, gone, isTypedAt);
      case 'PostToolUse':
      case 'PostToolUseFailure':
        this.#transcript.finished(event);
        break;
      case 'Notification':
        if (!isOfRequest(event)) this.#fire({ type: 'notice', text: event.message });
        break;
      case 'Stop':
      case 'StopFailure':
        this.#turnEnded(event);
        break;
      case 'SubagentStart':
        return this.#calls.output(event);
      case 'SessionEnd':
        // The end of the program is reported anyway; only these ends are a person's.
        if (event.reason === 'clear') this.#fire({ type: 'notice', text: 'The conversation was cleared' });
        if (event.reason === 'logout') this.#fire({ type: 'notice', text: 'Claude Code was logged out' });
        break;
      case 'InstructionsLoaded':
        break;
    }
    return NO_OPINION;
  }

  #turnEnded(event: HookOf<'Stop' | 'StopFailure'>): void {
    const said = event.last_assistant_message;
    if (event.hook_event_name === 'Stop') {
      const message = said ?? '';
      // The transcript is written a little later than the hook is posted.
      this.#transcript.sayLast(message);
      const backgroundTasks = event.background_tasks.length;
      this.#fire({ type: 'turn-ended', source: 'exact', message, backgroundTasks });
      return;
    }
    const { detail, status, limit } = this.#transcript.error ?? {};
    const error = turnError({ code: event.error, detail, status, text: said ?? event.error }, limit);
    this.#fire({ type: 'turn-ended', source: 'exact', message: '', backgroundTasks: 0, error });
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

  /** Not all of a text is a prompt as it is, such as tabs: then the model gets the exact text beside the prompt. */
  #arrive(prompt: string): Output {
    const expected = this.#expected;
    if (expected === undefined) return NO_OPINION;
    const isSole = expected.isEntered && expected.typed === this.#typed;
    const arrival = arrivalOf(prompt, expected.text, isSole);
    if (arrival === 'other') return NO_OPINION;
    this.#expected = undefined;
    expected.arrived();
    if (arrival === 'exact') return NO_OPINION;
    this.#fire({ type: 'notice', text: MESSAGE_CHANGED });
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

  /** Reports what is new in the transcript, after all hooks so far; true once it has an answer of the model. */
  async readTranscript(): Promise<boolean> {
    await this.#order;
    await this.#transcript.read();
    return this.#transcript.hasAnswer;
  }

  /** The turn was interrupted: no hook reports the commands that ran. */
  turnInterrupted(): void {
    this.#transcript.turnInterrupted();
  }

  /** False when there is no such pending request. */
  answer(requestId: string, answer: SessionAnswer): boolean {
    const event = this.#waiting.get(requestId)?.event;
    if (event === undefined) return false;
    const isForm = event.hook_event_name === 'Elicitation';
    const output = isForm ? elicitationOutput(event, answer) : hookOutput(event, answer);
    this.#end(requestId, output, answer.verdict === 'deny');
    return true;
  }

  /**
   * Until the result is disposed no call of a tool runs, and each request, those that are open first, is answered with a denial that
   * ends its turn.
   */
  stop(why: string): Disposable {
    this.#stop = why;
    for (const [requestId, { event }] of [...this.#waiting])
      this.#end(requestId, stopOutput(event, why), true, { requestId, why });
    return toDisposable(() => (this.#stop = undefined));
  }

  /** A person typed at the terminal, so any open request may be answered there. */
  typed(): void {
    this.#typed++;
    for (const waiting of this.#waiting.values()) waiting.isTypedAt = true;
  }

  /** Withdraws all pending requests. */
  withdraw(why: string): void {
    for (const requestId of [...this.#waiting.keys()]) this.#close(requestId, why);
  }

  dispose(): void {
    this.withdraw('the session was closed');
    this.#closes.dispose();
  }

  /** The session went on without an answer: whether the call was allowed or denied is not known. */
  #close(requestId: string, why?: string): void {
    this.#end(requestId, NO_OPINION, true, { requestId, ...(why !== undefined && { why }) });
  }

  /** Answers a pending request. `isOver`: the call is not open any more; `gone`: how that is reported. */
  #end(
    requestId: string,
    output: Output,
    isOver: boolean,
    gone?: { readonly requestId: string; readonly why?: string },
  ): void {
    const waiting = this.#waiting.get(requestId);
    if (waiting === undefined) return;
    this.#waiting.delete(requestId);
    if (isOver) this.#callOver(waiting.event);
    waiting.resolve(output);
    if (gone !== undefined) this.#fire({ type: 'request-gone', ...gone });
    this.#closes.fire();
  }

  #callOver(event: RequestEvent): void {
    if (event.hook_event_name === 'PermissionRequest')
      this.#transcript.closed({ id: undefined, tool: event.tool_name, input: event.tool_input });
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
    for (const [requestId, waiting] of [...this.#waiting])
      if (waiting.isTypedAt && (!hasRun || isAnsweredBy(waiting.event, event))) this.#close(requestId);
  }

  #ask(event: RequestEvent, gone: AbortSignal, isTypedAt: boolean): Output | Promise<Output> {
    // The CLI may have hung up while the transcript was read.
    if (gone.aborted || this.#stop !== undefined) {
      if (!gone.aborted) this.#callOver(event);
      this.#closes.fire();
      return gone.aborted || this.#stop === undefined ? NO_OPINION : stopOutput(event, this.#stop);
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
    const why = this.#calls.takeReason(event.tool_name, event.tool_input);
    return { ...requestOf(requestId, event, this.#options.cwd), why };
  }
}

/** What the session's own transcript will have: a subagent has another one. */
function awaitedBy(event: KnownHookEvent): { readonly call?: string | undefined; readonly error?: true } {
  if (event.hook_event_name === 'StopFailure') return { error: true };
  return 'tool_use_id' in event && event.agent_id === undefined ? { call: event.tool_use_id } : {};
}

/** Claude Code tells its person to look: a request is a decision already, and an idle session has its status. */
function isOfRequest({ message, notification_type = '' }: HookOf<'Notification'>): boolean {
  return (
    notification_type === 'permission_prompt' ||
    notification_type === 'idle_prompt' ||
    /^Claude (needs your|is waiting for your)\b/.test(message)
  );
}

/** What an interrupt answers: a form can only be declined. */
function stopOutput(event: RequestEvent, message: string): Output {
  return event.hook_event_name === 'Elicitation'
    ? elicitationOutput(event, { verdict: 'deny', message })
    : interruptOutput(message);
}

/** A form is open during a call of its server. */
function isAnsweredBy(asked: RequestEvent, ran: EndedHook): boolean {
  return asked.hook_event_name === 'Elicitation' ? ran.tool_name.startsWith('mcp__') : isSameUse(asked, ran);
}
