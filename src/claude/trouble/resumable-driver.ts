import { BridgeError } from '../../base/errors.js';
import { Emitter } from '../../base/event.js';
import { DisposableStore, type Disposable } from '../../base/lifecycle.js';
import type {
  ExitStatus,
  ScreenView,
  SendResult,
  SessionAnswer,
  SessionDriver,
  SessionEvent,
  SessionUsage,
} from '../session.js';
import { addedSessionUsage } from '../session-usage.js';
import type { SessionTerminal } from '../session-terminal.js';

/** A driver, not started, that goes on with the session `sessionId` and says `text` first. */
export type Reopen = (sessionId: string, text: string) => Promise<SessionDriver>;

/**
 * A session that may outlive its program: while it is kept, the program's end is no end of it, and the next message begins
 * another program with all that was said before.
 */
export class ResumableDriver implements SessionDriver {
  readonly #reopen: Reopen;
  readonly #events = new Emitter<SessionEvent>();
  readonly onEvent = this.#events.event;
  #driver: SessionDriver;
  #listening: Disposable;
  /** The program of before, whose screen is still looked at until the next one runs. */
  readonly #owned = new DisposableStore();
  #sessionId: string | undefined;
  /** What the programs of before have used: each program counts from nothing. */
  #usedBefore: SessionUsage | undefined;
  /** As it was told last, the programs of before included. */
  #used: SessionUsage | undefined;
  #isKept = false;
  /** Somebody has ended the session: no further program is started. */
  #isEnded = false;
  /** How the program ended while the session was kept. */
  #lost: ExitStatus | undefined;

  constructor(first: SessionDriver, reopen: Reopen) {
    this.#reopen = reopen;
    this.#driver = first;
    this.#listening = first.onEvent((event) => this.#onEvent(event));
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
      throw ended();
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
      // Nothing of it runs: it is as lost as before.
      this.#lost = lost;
      throw error;
    }
    // An end that came before there was a process to end.
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
    if (!this.#tellLost()) await this.#driver.close();
  }

  async kill(): Promise<void> {
    this.#isEnded = true;
    this.#isKept = false;
    if (!this.#tellLost()) await this.#driver.kill();
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
    const how =
      event.exit.signal === null ? `exit code ${event.exit.exitCode ?? 'unknown'}` : event.exit.signal;
    const text = `Claude Code has ended (${how}) while the task waits; its session is resumed when the task goes on.`;
    this.#events.fire({ type: 'notice', text });
  }

  /** The end of a turn tells the sums of the session, and the program knows only its own. */
  #withAllUsage(event: SessionEvent): SessionEvent {
    if (event.type !== 'turn-ended' || event.usage === undefined) return event;
    const before = this.#usedBefore;
    this.#used = before === undefined ? event.usage : addedSessionUsage(before, event.usage);
    return { ...event, usage: this.#used };
  }

  /** The end that was kept back, when there is one: nothing runs that could be ended. */
  #tellLost(): boolean {
    const exit = this.#lost;
    if (exit === undefined) return false;
    this.#lost = undefined;
    this.#events.fire({ type: 'exited', exit });
    return true;
  }
}

function ended(): BridgeError {
  return new BridgeError(
    'TASK_NOT_RUNNING',
    'The session was to go on, but it has been ended.',
    'Start a new task with start_task.',
  );
}
