// Pure.
import { messageOf } from '../../base/errors.js';
import { toDisposable, type Disposable } from '../../base/lifecycle.js';
import { countedNoun, headAndTail, tailChars } from '../../base/text.js';
import type { SessionEvent } from '../../claude/session.js';
import { spentOf } from '../budget/budget.js';
import { RunMessages } from './run-messages.js';
import { boundedWords, LAST_OUTPUT_CHARS, type RunCore } from './run-state.js';
import { RunTroubles } from './run-troubles.js';
import { endedWith } from './session-phase.js';

/** Longer than what a model gives in one turn. Of a longer one the end stays, too: `last_output` is its end. */
export const FINAL_MESSAGE_CHARS = 512 * 1024;

/** So long after its last turn a task waits for programs in the background. */
const PROGRAMS_LIMIT_MS = 10 * 60_000;
const READY = 'Ready for a message';

type TurnEnded = Extract<SessionEvent, { type: 'turn-ended' }>;
type WakeUp = NonNullable<Extract<SessionEvent, { type: 'tool-finished' }>['wakeUp']>;

/** The turns of a session: what follows a turn, and when the session is left. */
export class RunTurns {
  readonly #core: RunCore;
  readonly messages: RunMessages;
  readonly troubles: RunTroubles;
  /** The turn that the agent scheduled last. */
  #wakeUp: WakeUp | undefined;
  /** People who have taken the session over: while there are some it is not left. */
  #holders = 0;
  /** What the agent said last in this turn. */
  #said = '';

  constructor(core: RunCore) {
    this.#core = core;
    this.messages = new RunMessages(core);
    this.troubles = new RunTroubles(core, this.messages);
  }

  started(event: Extract<SessionEvent, { type: 'turn-started' }>): void {
    const { state, story, phase } = this.#core;
    this.troubles.over(event.source);
    if (phase.isOpen) phase.move({ at: 'turn' });
    this.#said = '';
    state.forgetMessage();
    story.turnStarted(event);
    state.act('Working');
    state.settle(event.source);
  }

  said({ text, atMs }: Extract<SessionEvent, { type: 'said' }>): void {
    const { story, state } = this.#core;
    this.troubles.answered();
    story.said(text, atMs);
    this.#said = text;
    state.act(text);
  }

  async ended(event: TurnEnded): Promise<void> {
    const { story, phase, spec } = this.#core;
    const { error, source, interrupted = false } = event;
    const goesOn = this.#goesOn(event.backgroundTasks);
    const staysOpen = spec.keep_open || interrupted || this.#holders > 0;
    const isDone = error === undefined && !staysOpen && goesOn === undefined && !this.messages.areWaiting;
    this.#record(event, isDone && phase.isOpen);
    story.turnEnded(event);
    if (!phase.isOpen) return;
    if (error !== undefined) {
      this.troubles.turnFailed(error, source);
      return;
    }
    this.troubles.answered();
    this.troubles.over(source);
    if (this.messages.areWaiting) {
      phase.move({ at: 'sending' });
      await this.messages.sendNext();
    } else if (staysOpen) this.#awaitMessage(interrupted, goesOn);
    else if (goesOn !== undefined) this.#awaitRest(goesOn);
    else await this.#leave();
  }

  /** What a turn leaves in the record; `isLast`: the work is done, and the session will be left. */
  #record({ message: shown, interrupted, usage, messageId, source }: TurnEnded, isLast: boolean): void {
    const { state, spec } = this.#core;
    const { turns, change_seq } = state.record;
    const isAsk = spec.purpose === 'ask';
    // Of an interrupted turn the screen shows more than what the agent said.
    const message = interrupted === true && this.#said !== '' ? this.#said : shown;
    this.#said = '';
    state.changed({
      turns: turns + 1,
      ...(message !== '' && {
        final_message: headAndTail(message, FINAL_MESSAGE_CHARS),
        last_output: tailChars(message, LAST_OUTPUT_CHARS),
      }),
      ...(usage !== undefined && { tokens: spentOf(usage).tokens }),
      ...(typeof usage?.costUsd === 'number' && { cost_usd: usage.costUsd }),
      ...(messageId !== undefined && { message_id: boundedWords(messageId) }),
      status_source: source,
      // All that a question asked for: the session has only to be left, which takes the CLI a while.
      ...(isAsk && isLast && { answered: true }),
      // The end of the task follows at once, and is news enough.
      change_seq: isLast && !isAsk ? change_seq : change_seq + 1,
    });
  }

  /** The model is not asked what a prompt said; `words`: why. */
  async blocked(words: string): Promise<void> {
    const { phase, state, story, spec } = this.#core;
    if (!phase.isOpen) return;
    if (state.record.turns === 0 || !spec.keep_open) {
      state.end({ status: 'failed', reason: words }, 'close');
      return;
    }
    story.noticed(words);
    phase.move({ at: 'message' });
    await this.messages.sendNext();
    if (phase.at !== 'message') return;
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

  /** The agent asked to be called again, which Claude Code itself does not do in a task (CLAUDE_CODE_DISABLE_CRON). */
  scheduled(wakeUp: WakeUp): void {
    this.#wakeUp = wakeUp;
  }

  /** No person holds the session any more: what its last turn would have led to happens now. */
  #letGo(): void {
    const { phase, spec, state } = this.#core;
    const { now } = phase;
    if (now.at !== 'message' || this.messages.areWaiting) return;
    if (spec.keep_open) state.show({ activity: READY });
    else if (now.interrupted === true) this.#awaitMessage(true);
    else
      this.#leave().catch((error: unknown) =>
        state.end({ status: 'error', reason: `The session could not be left: ${messageOf(error)}` }),
      );
  }

  async #leave(): Promise<void> {
    this.#core.phase.move({ at: 'leaving' });
    await this.#core.driver.close();
  }

  /** What goes on after a turn, in words; undefined for nothing. */
  #goesOn(programs: number): string | undefined {
    const still = programs === 1 ? 'still runs' : 'still run';
    const words = [
      ...(programs > 0 ? [`${countedNoun(programs, 'background program')} ${still}`] : []),
      ...(this.#wakeUp ? [`a turn is scheduled for ${new Date(this.#wakeUp.atMs).toISOString()}`] : []),
    ];
    return words.length === 0 ? undefined : words.join(', ');
  }

  /** The end of a program may begin a turn; one that does not end, such as a server, does not hold up the result for long. */
  #awaitRest(goesOn: string): void {
    const { state, phase } = this.#core;
    phase.move({ at: 'background', words: goesOn });
    state.settle('exact');
    state.act(state.record.reason);
    if (this.#wakeUp !== undefined) this.#wakeAt(this.#wakeUp);
    else phase.after(PROGRAMS_LIMIT_MS, () => state.end(endedWith(goesOn, 'ten minutes later')));
  }

  #wakeAt({ atMs, prompt }: WakeUp): void {
    const { clock, phase } = this.#core;
    phase.after(Math.max(0, atMs - clock.now()), () => {
      this.#wakeUp = undefined;
      this.messages.add(prompt);
    });
  }

  #awaitMessage(interrupted: boolean, goesOn?: string): void {
    const { state, spec, phase } = this.#core;
    phase.move({ at: 'message', interrupted, words: goesOn });
    state.show({ activity: this.#holders > 0 ? 'A person works at the terminal' : READY });
    state.settle('exact');
    if (this.#wakeUp !== undefined) this.#wakeAt(this.#wakeUp);
    if (!interrupted || spec.keep_open || this.#holders > 0) return;
    const seconds = spec.settings.decision_timeout_seconds;
    const reason = `The turn was interrupted, and no further message came within ${seconds} seconds.`;
    phase.after(seconds * 1000, () => state.end({ status: 'failed', reason }, 'close'));
  }
}
