import { messageOf } from '../../base/errors.js';
import { toDisposable, type Disposable } from '../../base/lifecycle.js';
import { countedNoun, headAndTail, tailChars } from '../../base/text.js';
import type { SessionEvent } from '../../claude/session.js';
import { spentOf } from '../budget/budget.js';
import { endedWith } from './end-causes.js';
import { RunMessages } from './run-messages.js';
import { LAST_OUTPUT_CHARS, type RunCore } from './run-state.js';
import type { RunTroubles } from './run-troubles.js';

/** Longer than what a model gives in one turn. Of a longer one the end stays, too: `last_output` is its end. */
export const FINAL_MESSAGE_CHARS = 512 * 1024;

/** So long after its last turn a task waits for programs in the background. */
const PROGRAMS_LIMIT_MS = 10 * 60_000;
const READY = 'Ready for a message (message_task)';

type WakeUp = NonNullable<Extract<SessionEvent, { type: 'tool-finished' }>['wakeUp']>;

/** The turns of a session: what follows a turn, and when the session is left. */
export class RunTurns implements Disposable {
  readonly #parts: RunCore;
  readonly #troubles: RunTroubles;
  readonly messages: RunMessages;
  #messageDeadline: Disposable | undefined;
  /** The turn that the agent scheduled last. */
  #wakeUp: WakeUp | undefined;
  #alarm: Disposable | undefined;
  /** People who have taken the session over: while there are some it is not left. */
  #holders = 0;
  #wasInterrupted = false;
  /** What the agent said last in this turn. */
  #said = '';

  constructor(parts: RunCore, troubles: RunTroubles) {
    this.#parts = parts;
    this.#troubles = troubles;
    this.messages = new RunMessages(parts, () => this.#messageDeadline?.dispose());
  }

  started(event: Extract<SessionEvent, { type: 'turn-started' }>): void {
    const { state, story, phase } = this.#parts;
    this.#messageDeadline?.dispose();
    this.#alarm?.dispose();
    this.#troubles.turnStarted(event.source);
    if (phase.isOpen) phase.move({ name: 'turn' });
    this.#said = '';
    state.forgetMessage();
    story.turnStarted(event);
    state.act('Working');
    state.settle(event.source);
  }

  said(text: string): void {
    this.#said = text;
  }

  async ended(event: Extract<SessionEvent, { type: 'turn-ended' }>): Promise<void> {
    const { state, story, phase, spec } = this.#parts;
    const { turns, change_seq } = state.record;
    // Of an interrupted turn the screen shows more than what the agent said.
    const message = event.interrupted === true && this.#said !== '' ? this.#said : event.message;
    this.#said = '';
    state.changed({
      turns: turns + 1,
      ...(message !== '' && {
        final_message: headAndTail(message, FINAL_MESSAGE_CHARS),
        last_output: tailChars(message, LAST_OUTPUT_CHARS),
      }),
      ...(event.usage !== undefined && { tokens: spentOf(event.usage).tokens }),
      ...(typeof event.usage?.costUsd === 'number' && { cost_usd: event.usage.costUsd }),
      ...(event.messageId !== undefined && { message_id: event.messageId }),
      status_source: event.source,
      ...(this.#isAnswer(event) && { answered: true }),
      // The end of the task follows at once, and is news enough.
      change_seq: this.#isLast(event) && spec.purpose !== 'ask' ? change_seq : change_seq + 1,
    });
    story.turnEnded(event);
    if (!phase.isOpen) return;
    if (event.error !== undefined) {
      const outcome = this.#troubles.turnFailed(event.error, event.source);
      if (outcome.held) return;
      state.end({ status: 'failed', reason: outcome.reason }, 'close');
      return;
    }
    this.#troubles.passed(event.source);
    const goesOn = this.#goesOn(event);
    if (this.#wakeUp !== undefined) this.#wakeAt(this.#wakeUp);
    if (this.messages.areWaiting) {
      phase.move({ name: 'idle', why: 'sending' });
      await this.messages.sendNext();
    } else if (spec.keep_open || event.interrupted === true || this.#holders > 0) {
      this.#awaitMessage(event.interrupted === true, goesOn);
    } else if (goesOn !== undefined) {
      this.#awaitRest(goesOn);
    } else {
      await this.#leave();
    }
  }

  /** The model is not asked what a prompt said; `words`: why. */
  async blocked(words: string): Promise<void> {
    const { phase, state, story, spec } = this.#parts;
    if (!phase.isOpen) return;
    if (state.record.turns === 0 || !spec.keep_open) {
      state.end({ status: 'failed', reason: words }, 'close');
      return;
    }
    story.noticed(words);
    phase.move({ name: 'idle', why: 'message' });
    await this.messages.sendNext();
    if (!phase.isIdleFor('message')) return;
    state.act(words);
    state.settle('exact');
  }

  /** A person has taken the session over: until the result is disposed, the end of a turn does not end the task. */
  hold(): Disposable {
    this.#holders++;
    return toDisposable(() => {
      this.#holders--;
      if (this.#holders === 0) this.#letGo();
    });
  }

  /** No person holds the session any more: what its last turn would have led to happens now. */
  #letGo(): void {
    const { phase, spec, state } = this.#parts;
    if (!phase.isIdleFor('message') || this.messages.areWaiting) return;
    if (spec.keep_open) {
      state.show({ activity: READY });
      return;
    }
    if (this.#wasInterrupted) {
      this.#awaitMessage(true);
      return;
    }
    this.#leave().catch((error: unknown) =>
      state.end({ status: 'error', reason: `The session could not be left: ${messageOf(error)}` }),
    );
  }

  async #leave(): Promise<void> {
    this.#parts.phase.move({ name: 'leaving' });
    await this.#parts.driver.close();
  }

  /** The turn was all that a question asked for: the session will be left, which takes the CLI a while. */
  #isAnswer(event: Extract<SessionEvent, { type: 'turn-ended' }>): boolean {
    return this.#parts.spec.purpose === 'ask' && this.#isLast(event);
  }

  /** The work is done, and the session will be left. */
  #isLast(event: Extract<SessionEvent, { type: 'turn-ended' }>): boolean {
    const { spec, phase } = this.#parts;
    const goesOn =
      this.messages.areWaiting || this.#goesOn(event) !== undefined || spec.keep_open || this.#holders > 0;
    return event.error === undefined && event.interrupted !== true && !goesOn && phase.isOpen;
  }

  dispose(): void {
    this.#messageDeadline?.dispose();
    this.messages.dispose();
    this.#alarm?.dispose();
  }

  /** The agent asked to be called again, which Claude Code itself does not do in a task (CLAUDE_CODE_DISABLE_CRON). */
  scheduled(wakeUp: WakeUp): void {
    this.#wakeUp = wakeUp;
  }

  /** What goes on after a turn, in words; undefined for nothing. */
  #goesOn({ backgroundTasks: count }: Extract<SessionEvent, { type: 'turn-ended' }>): string | undefined {
    const words = [
      count > 0 && `${countedNoun(count, 'background program')} still ${count === 1 ? 'runs' : 'run'}`,
      this.#wakeUp !== undefined && `a turn is scheduled for ${new Date(this.#wakeUp.atMs).toISOString()}`,
    ].filter((word) => word !== false);
    return words.length === 0 ? undefined : words.join(', ');
  }

  /** The end of a program may begin a turn; one that does not end, such as a server, does not hold up the result for long. */
  #awaitRest(goesOn: string): void {
    const { state, clock, phase } = this.#parts;
    phase.move({ name: 'idle', why: 'background', goesOn });
    state.settle('exact');
    state.act(state.record.reason);
    if (this.#wakeUp !== undefined) return;
    this.#messageDeadline = clock.after(PROGRAMS_LIMIT_MS, () =>
      state.end(endedWith(goesOn, 'ten minutes later')),
    );
  }

  #wakeAt({ atMs, prompt }: WakeUp): void {
    const { clock } = this.#parts;
    this.#alarm = clock.after(Math.max(0, atMs - clock.now()), () => {
      this.#wakeUp = undefined;
      this.messages.add(prompt);
    });
  }

  #awaitMessage(interrupted: boolean, goesOn?: string): void {
    const { state, spec, clock, phase } = this.#parts;
    phase.move({ name: 'idle', why: 'message', interrupted, ...(goesOn !== undefined && { goesOn }) });
    this.#wasInterrupted = interrupted;
    state.show({
      activity: this.#holders > 0 ? 'A person works at the terminal' : READY,
    });
    state.settle('exact');
    if (!interrupted || spec.keep_open || this.#holders > 0) return;
    const seconds = spec.settings.decision_timeout_seconds;
    this.#messageDeadline = clock.after(seconds * 1000, () =>
      state.end(
        {
          status: 'failed',
          reason: `The turn was interrupted, and no further message came within ${seconds} seconds.`,
        },
        'close',
      ),
    );
  }
}
