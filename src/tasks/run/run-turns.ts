// Pure: what follows a turn, and when the session is left.
import { toDisposable, type Disposable } from '../../base/lifecycle.js';
import { countedNoun, headAndTail, tailChars } from '../../base/text.js';
import type { SessionEvent } from '../../claude/session.js';
import { RunChecks } from './run-checks.js';
import { RunMessages } from './run-messages.js';
import type { RunRequests } from './run-requests.js';
import { boundedWords, LAST_OUTPUT_CHARS, type RunState } from './run-state.js';
import { RunTroubles } from './run-troubles.js';
import { endedWith } from './session-phase.js';

/** Longer than what a model gives in one turn. Of a longer one the end stays, too: `last_output` is its end. */
export const FINAL_MESSAGE_CHARS = 512 * 1024;

/** So long after its last turn a task waits for programs in the background. */
const PROGRAMS_LIMIT_MS = 10 * 60_000;
const READY = 'Ready for a message';

type TurnEnded = Extract<SessionEvent, { type: 'turn-ended' }>;
type WakeUp = NonNullable<Extract<SessionEvent, { type: 'tool-finished' }>['wakeUp']>;

/** The turns of a session. */
export class RunTurns {
  readonly #run: RunState;
  readonly messages: RunMessages;
  readonly troubles: RunTroubles;
  readonly #checks: RunChecks;
  /** The turn that the agent scheduled last. */
  #wakeUp: WakeUp | undefined;
  /** People who have taken the session over: while there are some it is not left. */
  #holders = 0;
  /** What the agent said last in this turn. */
  #said = '';

  constructor(run: RunState, requests: RunRequests) {
    this.#run = run;
    this.messages = new RunMessages(run);
    this.#checks = new RunChecks(run, requests, this.messages);
    this.troubles = new RunTroubles(run, this.messages);
  }

  started(event: Extract<SessionEvent, { type: 'turn-started' }>): void {
    const run = this.#run;
    this.troubles.over(event.source);
    if (run.isOpen) run.enter({ at: 'turn' });
    this.#said = '';
    run.forgetMessage();
    run.story.turnStarted(event);
    this.#checks.turnStarted();
    run.act('Working');
    run.settle(event.source);
  }

  said({ text, atMs }: Extract<SessionEvent, { type: 'said' }>): void {
    this.troubles.answered();
    this.#run.story.said(text, atMs);
    this.#said = text;
    this.#run.act(text);
  }

  async ended(event: TurnEnded): Promise<void> {
    const run = this.#run;
    const { error, source, interrupted = false } = event;
    const goesOn = this.#goesOn(event.backgroundTasks);
    const staysOpen = (): boolean => run.parts.spec.keep_open || interrupted || this.#holders > 0;
    const isDone = error === undefined && !interrupted && goesOn === undefined && !this.messages.areWaiting;
    const isLast = isDone && !staysOpen() && run.parts.checks === undefined;
    this.#record(event, isLast && run.isOpen);
    run.story.turnEnded(event);
    if (!run.isOpen) return;
    if (error !== undefined) {
      this.troubles.turnFailed(error, source);
      return;
    }
    this.troubles.answered();
    this.troubles.over(source);
    if (this.messages.areWaiting) {
      run.enter({ at: 'sending' });
      await this.messages.sendNext();
    } else if (isDone && run.parts.checks !== undefined && (await this.#checks.afterTurn())) return;
    else if (staysOpen()) this.#awaitMessage(interrupted, goesOn);
    else if (goesOn !== undefined) this.#awaitRest(goesOn);
    else await this.#leave();
  }

  /** What a turn leaves in the record; `isLast`: the work is done, and the session will be left. */
  #record({ message: shown, interrupted, messageId, source }: TurnEnded, isLast: boolean): void {
    const run = this.#run;
    const { turns, change_seq } = run.record;
    const isAsk = run.parts.spec.purpose === 'ask';
    // Of an interrupted turn the screen shows more than what the agent said.
    const message = interrupted === true && this.#said !== '' ? this.#said : shown;
    this.#said = '';
    run.changed({
      turns: turns + 1,
      ...(message !== '' && {
        final_message: headAndTail(message, FINAL_MESSAGE_CHARS),
        last_output: tailChars(message, LAST_OUTPUT_CHARS),
      }),
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
    const run = this.#run;
    if (!run.isOpen) return;
    if (run.record.turns === 0 || !run.parts.spec.keep_open) {
      run.end({ status: 'failed', reason: words }, 'close');
      return;
    }
    run.story.noticed(words);
    run.enter({ at: 'message' });
    await this.messages.sendNext();
    if (run.phase.at !== 'message') return;
    run.act(words);
    run.settle('exact');
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
    const run = this.#run;
    const { at, interrupted } = run.phase;
    if (at !== 'message' || this.messages.areWaiting) return;
    if (run.parts.spec.keep_open) run.show({ activity: READY });
    else if (interrupted === true) this.#awaitMessage(true);
    else run.orFail('The session could not be left', this.#leave());
  }

  async #leave(): Promise<void> {
    this.#run.enter({ at: 'leaving' });
    await this.#run.parts.driver.close();
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
    const run = this.#run;
    run.enter({ at: 'background', words: goesOn });
    run.settle('exact');
    run.act(run.record.reason);
    if (this.#wakeUp !== undefined) this.#wakeAt(this.#wakeUp);
    else run.after(PROGRAMS_LIMIT_MS, () => run.end(endedWith(goesOn, 'ten minutes later')));
  }

  #wakeAt({ atMs, prompt }: WakeUp): void {
    this.#run.after(Math.max(0, atMs - this.#run.parts.clock.now()), () => {
      this.#wakeUp = undefined;
      this.messages.add(prompt);
    });
  }

  #awaitMessage(interrupted: boolean, goesOn?: string): void {
    const run = this.#run;
    const { keep_open, settings } = run.parts.spec;
    run.enter({ at: 'message', interrupted, words: goesOn });
    run.show({ activity: this.#holders > 0 ? 'A person works at the terminal' : READY });
    run.settle('exact');
    if (this.#wakeUp !== undefined) this.#wakeAt(this.#wakeUp);
    if (!interrupted || keep_open || this.#holders > 0) return;
    const seconds = settings.decision_timeout_seconds;
    const reason = `The turn was interrupted, and no further message came within ${seconds} seconds.`;
    run.after(seconds * 1000, () => run.end({ status: 'failed', reason }, 'close'));
  }
}
