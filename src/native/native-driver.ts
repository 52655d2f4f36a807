// Pure.
import type { Clock } from '../base/clock.js';
import { Emitter } from '../base/event.js';
import type { KnownHookEvent } from '../claude/hooks/hook-event.js';
import { hookOutput, requestOf, type PermissionRequestEvent } from '../claude/tool-requests.js';
import type {
  ScreenView,
  SendResult,
  SessionAnswer,
  SessionDriver,
  SessionEvent,
} from '../claude/session.js';
import {
  callIn,
  outcomeOf,
  toolFinished,
  toolStarted,
  toolSummary,
  type EndedHook,
} from '../claude/tool-calls.js';
import type { Pid } from '../os/pid.js';
import { nativeSession } from '../tasks/native-session.js';
import { isOwnMessage, type NativeMessages } from './native-messages.js';
import type { SessionStatus } from './session-status.js';
import { isFor, StandingRequests, type HookAnswer } from './standing-requests.js';
import { TerminalWatch } from './terminal-watch.js';

/** A cancelled call means an answer in the terminal, unless the session ends at that moment. */
const CANCEL_PAUSE_MS = 50;
/** Answers whose tool has not run yet are remembered, so many of each kind. */
const MAX_ANSWERED = 20;
const LEFT: HookAnswer = {};
const REFUSED = 'refused or interrupted in the terminal';
const ALLOWED = 'allowed in the terminal';
const WENT_ON = 'answered in the terminal';

export interface NativeDriverOptions {
  readonly clock: Clock;
  readonly taskId: string;
  readonly sessionId: string;
  readonly project: string;
  readonly status: Pick<SessionStatus, 'read'>;
  /** The process of the session, where it is known. */
  readonly pid: Pid | undefined;
  /** Whether anyone would answer a request. */
  readonly isHeard: () => Promise<boolean>;
  /** Left out where messages are refused. */
  readonly messages?: NativeMessages | undefined;
}

/** A session that a person started, known by the hooks of the plugin. It is answered, and never typed into or ended. */
export class NativeDriver implements SessionDriver {
  readonly #options: NativeDriverOptions;
  readonly #events = new Emitter<SessionEvent>();
  readonly onEvent = this.#events.event;
  readonly #standing = new StandingRequests();
  readonly #watch: TerminalWatch;
  #allowed: PermissionRequestEvent[] = [];
  #denied: PermissionRequestEvent[] = [];
  #nextRequest = 1;
  #said = '';
  #isInTurn = false;
  #isClosed = false;

  constructor(options: NativeDriverOptions) {
    this.#options = options;
    this.#watch = new TerminalWatch(options.clock, options.status, () => this.#settleAll(WENT_ON));
  }

  /** As far as hooks say: none reports that a person stopped a turn. */
  get isInTurn(): boolean {
    return this.#isInTurn;
  }

  start(): Promise<void> {
    this.#events.fire({ type: 'spawned', pid: this.#options.pid });
    this.#events.fire({ type: 'session', sessionId: this.#options.sessionId });
    return Promise.resolve();
  }

  /** What a hook answers; only that of a request may take long. `signal` aborts when Claude Code waits no longer. */
  async hook(event: KnownHookEvent, signal: AbortSignal): Promise<HookAnswer> {
    if (this.#isClosed) return LEFT;
    this.#isInTurn = true;
    switch (event.hook_event_name) {
      case 'UserPromptSubmit':
        this.#settleAll(WENT_ON);
        if (!isOwnMessage(event.prompt)) this.#events.fire({ type: 'prompted', text: event.prompt });
        this.#events.fire({ type: 'turn-started', source: 'exact', prompt: event.prompt });
        return LEFT;
      case 'PermissionRequest':
        return this.#asked(event, signal);
      case 'PostToolUse':
      case 'PostToolUseFailure':
        this.#used(event);
        return LEFT;
      case 'Stop':
        return this.#stopped(event);
      case 'StopFailure':
        this.#events.fire({ type: 'notice', text: `The turn failed: ${event.error}` });
        this.#ended(event.last_assistant_message ?? '');
        return LEFT;
      case 'PreToolUse':
      case 'Notification':
      case 'SessionEnd':
      case 'InstructionsLoaded':
      case 'SubagentStart':
      case 'Elicitation':
        return LEFT;
    }
  }

  answer(requestId: string, answer: SessionAnswer): Promise<'answered' | 'gone'> {
    const standing = this.#standing.asked(requestId);
    if (standing?.reply === undefined) return Promise.resolve('gone');
    this.#standing.take(requestId);
    this.#looked();
    if (answer.verdict === 'allow') this.#allowed = [...this.#allowed, standing.event].slice(-MAX_ANSWERED);
    else this.#denied = [...this.#denied, standing.event].slice(-MAX_ANSWERED);
    standing.reply(hookOutput(standing.event, answer));
    return Promise.resolve('answered');
  }

  async look(): Promise<void> {
    if (await this.#watch.wentOn()) this.#settleAll(WENT_ON);
  }

  isHeard(): Promise<boolean> {
    return this.#options.isHeard();
  }

  leave(requestId: string): void {
    const standing = this.#standing.asked(requestId);
    if (standing === undefined) return;
    this.#standing.take(requestId);
    this.#standing.add({ ...standing, reply: undefined });
    standing.reply?.(LEFT);
    this.#looked();
  }

  send(text: string): Promise<SendResult> {
    const { messages, taskId } = this.#options;
    return messages?.send(text) ?? Promise.reject(nativeSession(taskId, 'sent a message'));
  }

  interrupt(): Promise<void> {
    return Promise.reject(nativeSession(this.#options.taskId, 'interrupted'));
  }

  /** Lets the session go: it runs on without the bridge. */
  close(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#isClosed = true;
    this.#watch.dispose();
    for (const { reply } of this.#standing.takeAll()) reply?.(LEFT);
    this.#events.fire({ type: 'exited', exit: { code: 0 } });
    return Promise.resolve();
  }

  kill(): Promise<void> {
    return this.close();
  }

  screen(): Promise<ScreenView> {
    return Promise.reject(nativeSession(this.#options.taskId, 'shown as a screen'));
  }

  lastOutput(maxChars: number): string {
    return this.#said.slice(-maxChars);
  }

  dispose(): void {
    void this.close();
    this.#events.dispose();
  }

  #asked(event: PermissionRequestEvent, signal: AbortSignal): Promise<HookAnswer> {
    const request = requestOf(`native-${this.#nextRequest++}`, event, this.#options.project);
    return new Promise((resolve) => {
      this.#standing.add({ request, event, reply: resolve });
      signal.addEventListener('abort', () => this.#cancelled(request.requestId), { once: true });
      this.#looked();
      this.#events.fire({ type: 'request', request });
    });
  }

  #cancelled(requestId: string): void {
    this.#options.clock.after(CANCEL_PAUSE_MS, () => {
      if (!this.#isClosed) this.#settle(requestId, REFUSED);
    });
  }

  #used(event: EndedHook): void {
    const { tool_name: tool, tool_input: input } = event;
    const standing = this.#standing.takeFor(tool, input);
    if (standing !== undefined) {
      standing.reply?.(LEFT);
      this.#gone(standing.request.requestId, ALLOWED);
    }
    const isUse = (one: PermissionRequestEvent): boolean =>
      isFor({ tool: one.tool_name, input: one.tool_input }, tool, input);
    const allowed = this.#allowed.find(isUse);
    this.#allowed = this.#allowed.filter((one) => one !== allowed);
    // The same may have been allowed once and denied once.
    const denied = allowed === undefined ? this.#denied.find(isUse) : undefined;
    if (denied !== undefined) {
      this.#denied = this.#denied.filter((one) => one !== denied);
      this.#events.fire({
        type: 'notice',
        text: `${toolSummary(tool, input, this.#options.project)} was allowed in the terminal before it was denied`,
      });
    }
    const { project } = this.#options;
    this.#events.fire(toolStarted(callIn(event), project));
    this.#events.fire(toolFinished(callIn(event), outcomeOf(event), project, event.cwd));
  }

  /** The end of a turn, unless a message that waits for it continues the turn. */
  #stopped(event: Extract<KnownHookEvent, { hook_event_name: 'Stop' }>): HookAnswer {
    const said = event.last_assistant_message ?? '';
    const end = (): void => {
      if (said !== '') this.#events.fire({ type: 'said', text: said });
      this.#ended(said);
    };
    const { messages } = this.#options;
    if (messages === undefined) {
      end();
      return LEFT;
    }
    const answer = messages.atTurnEnd(event.stop_hook_active === false, end);
    this.#isInTurn = 'decision' in answer;
    return answer;
  }

  #ended(message: string): void {
    this.#isInTurn = false;
    this.#settleAll(WENT_ON);
    this.#allowed = [];
    this.#denied = [];
    this.#said = message;
    this.#events.fire({ type: 'turn-ended', source: 'exact', message, backgroundTasks: 0 });
  }

  #settle(requestId: string, why: string): void {
    const standing = this.#standing.take(requestId);
    if (standing === undefined) return;
    standing.reply?.(LEFT);
    this.#gone(requestId, why);
  }

  #settleAll(why: string): void {
    for (const { request, reply } of this.#standing.takeAll()) {
      reply?.(LEFT);
      this.#gone(request.requestId, why);
    }
    this.#looked();
  }

  #gone(requestId: string, why: string): void {
    this.#events.fire({ type: 'request-gone', requestId, why, by: 'terminal' });
    this.#looked();
  }

  /** Dialogs came or went. */
  #looked(): void {
    if (this.#standing.size > 0) this.#watch.start();
    else this.#watch.stop();
    const { left } = this.#standing;
    this.#events.fire({
      type: 'dialog',
      text: left === undefined ? null : `Waits for an answer to: ${left.request.summary}`,
    });
  }
}
