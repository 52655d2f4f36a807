// Pure.
import { BridgeError } from '../../base/errors.js';
import { Emitter, DisposableStore, type Disposable } from '../../base/lifecycle.js';
import type {
  ExitStatus,
  ScreenView,
  SendResult,
  SessionAnswer,
  SessionDriver,
  SessionEvent,
  SessionUsage,
} from '../session.js';
import { addedSessionUsage } from '../usage.js';
import type { SessionTerminal } from '../session-terminal.js';

/** Makes a driver, not started yet, that resumes the session `sessionId` with the message `text`. */
export type Reopen = (sessionId: string, text: string) => Promise<SessionDriver>;

/**
 * A session that may outlive its program: while it is kept, it survives the program's end, and the next message starts another program
 * with the whole conversation.
 */
export class ResumableDriver implements SessionDriver {
  readonly #reopen: Reopen;
  readonly usage: SessionDriver['usage'];
  readonly #events = new Emitter<SessionEvent>();
  readonly onEvent = this.#events.event;
  #driver: SessionDriver;
  #listening: Disposable;
  /** Drivers of ended programs, whose last screen is shown until the next program runs. */
  readonly #owned = new DisposableStore();
  #sessionId: string | undefined;
  /** The usage of earlier programs: each program counts from 0. */
  #usedBefore: SessionUsage | undefined;
  /** The last reported usage, including earlier programs. */
  #used: SessionUsage | undefined;
  #isKept = false;
  /** The session was closed or killed: no further program is started. */
  #isEnded = false;
  /** The unreported end of a program while the session was kept. */
  #lost: ExitStatus | undefined;

  constructor(first: SessionDriver, reopen: Reopen) {
    this.#reopen = reopen;
    this.#driver = first;
    this.#listening = first.onEvent((event) => this.#onEvent(event));
    if (first.usage !== undefined) this.usage = (callId) => this.#usage(callId);
  }

  get terminal(): SessionTerminal | undefined {
    return this.#driver.terminal;
  }

  start(): Promise<void> {
    return this.#driver.start();
  }

  keepSession(isKept: boolean): void {
    this.#isKept = isKept;
  }

  async send(text: string): Promise<SendResult> {
    if (this.#lost === undefined || this.#sessionId === undefined) return this.#driver.send(text);
    const next = await this.#reopen(this.#sessionId, text);
    if (this.#isEnded) {
      next.dispose();
      const text = 'The session cannot go on: it has been ended.';
      throw new BridgeError('TASK_NOT_RUNNING', text, [{ do: 'start' }]);
    }
    const before = this.#driver;
    this.#listening.dispose();
    this.#driver = next;
    this.#usedBefore = this.#used;
    this.#listening = next.onEvent((event) => this.#onEvent(event));
    this.#owned.add(before);
    const lost = this.#lost;
    this.#lost = undefined;
    try {
      await next.start();
    } catch (error) {
      // It did not start, so the session has still no program.
      this.#lost = lost;
      throw error;
    }
    // The session was ended before there was a process to end.
    if (this.#isEnded) await next.kill();
    return 'sent';
  }

  async answer(requestId: string, answer: SessionAnswer): Promise<'answered' | 'gone'> {
    return this.#lost === undefined ? this.#driver.answer(requestId, answer) : 'gone';
  }

  interrupt(): Promise<void> {
    return this.#driver.interrupt();
  }

  async close(): Promise<void> {
    this.#isEnded = true;
    this.#isKept = false;
    if (!this.#reportLost()) await this.#driver.close();
  }

  async kill(): Promise<void> {
    this.#isEnded = true;
    this.#isKept = false;
    if (!this.#reportLost()) await this.#driver.kill();
  }

  screen(): Promise<ScreenView> {
    return this.#driver.screen();
  }

  lastOutput(maxChars: number): string {
    return this.#driver.lastOutput(maxChars);
  }

  dispose(): void {
    this.#isEnded = true;
    this.#listening.dispose();
    this.#driver.dispose();
    this.#owned.dispose();
    this.#events.dispose();
  }

  #onEvent(event: SessionEvent): void {
    if (event.type === 'session') this.#sessionId = event.sessionId;
    if (event.type !== 'exited' || !this.#isKept || this.#sessionId === undefined) {
      this.#events.fire(this.#withAllUsage(event));
      return;
    }
    this.#lost = event.exit;
    const how = event.exit.signal ?? `exit code ${event.exit.code ?? 'unknown'}`;
    const text = `Claude Code ended (${how}) while the task waits; its session will be resumed when the task goes on.`;
    this.#events.fire({ type: 'notice', text });
  }

  /** The end of a turn reports the totals of the session, but a program knows only its own. */
  #withAllUsage(event: SessionEvent): SessionEvent {
    if (event.type !== 'turn-ended' || event.usage === undefined) return event;
    return { ...event, usage: this.#add(event.usage) };
  }

  async #usage(callId: string | undefined): Promise<SessionUsage | undefined> {
    const now = this.#lost === undefined ? await this.#driver.usage?.(callId) : undefined;
    return now === undefined ? undefined : this.#add(now);
  }

  #add(now: SessionUsage): SessionUsage {
    const before = this.#usedBefore;
    this.#used = before === undefined ? now : addedSessionUsage(before, now);
    return this.#used;
  }

  /** Reports the delayed end, if there is one: then no program runs. */
  #reportLost(): boolean {
    const exit = this.#lost;
    if (exit === undefined) return false;
    this.#lost = undefined;
    this.#events.fire({ type: 'exited', exit });
    return true;
  }
}
