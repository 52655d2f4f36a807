import { BridgeError, messageOf } from '../../base/errors.js';
import { toDisposable, type Disposable } from '../../base/lifecycle.js';
import { countedNoun, headBytes, oneLine, tailChars } from '../../base/text/text.js';
import type { SendResult, SessionEvent } from '../../claude/session.js';
import { LAST_OUTPUT_CHARS, type RunEnding } from './run-ending.js';
import { MESSAGE_WAITS } from '../polling-hint.js';
import { NO_PROMPT } from '../native-session.js';
import { promptSummary } from '../record/initial-record.js';
import { checkIsNoCommand } from '../prompt.js';
import { isNative, openDecisions } from '../task.js';
import type { SentMessage } from '../task-host.js';
import type { RunState } from './run-state.js';
import type { RunTroubles } from './run-troubles.js';
import type { Cause, SessionPhase } from './session-phase.js';
import type { TaskRunParts } from './task-run-parts.js';
import type { TaskStory } from './task-story.js';

const FINAL_MESSAGE_BYTES = 16_000;
/** The answer of a question is all there is of it: several times the longest that a model gives in one turn. */
const ANSWER_BYTES = 512 * 1024;
/** Messages that wait for the running turn; more than this is a caller that does not read answers. */
const MAX_QUEUED_MESSAGES = 20;
const MAX_REASON_CHARS = 300;

/** So long after its last turn a task waits for programs in the background. */
const PROGRAMS_LIMIT_MS = 10 * 60_000;
/** A message that the session does not take now is sent again after this. */
const SEND_AGAIN_MS = 10_000;
const READY = 'Ready for a message (message_task)';
const READY_FOR_PERSON = 'Waits for its person';
const refusals = {
  asked: 'a decision is open',
  covered: 'something covers the input box of Claude Code',
  away: 'the session takes it at the end of its next turn',
} as const;
/** Why a message will never be sent. */
const losses = {
  command: 'Claude Code took it as a command of its own, and no turn began',
  kept: 'the session did not send it on Enter, which keybindings.json of Claude Code may have bound to something else',
} as const;
const LEFT = 'the session ended when it was sent';

type WakeUp = NonNullable<Extract<SessionEvent, { type: 'tool-finished' }>['wakeUp']>;

export interface RunTurnsParts extends Pick<TaskRunParts, 'spec' | 'clock' | 'driver'> {
  readonly state: RunState;
  readonly story: TaskStory;
  readonly phase: SessionPhase;
  readonly ending: RunEnding;
  readonly troubles: RunTroubles;
}

/** The turns of a session and the messages between them: what follows a turn, and when the session is left. */
export class RunTurns implements Disposable {
  readonly #parts: RunTurnsParts;
  readonly #messages: string[] = [];
  /** A message is on its way into the session. */
  #isSending = false;
  #sendAgain: Disposable | undefined;
  #messageDeadline: Disposable | undefined;
  /** The turn that the agent scheduled last. */
  #wakeUp: WakeUp | undefined;
  #alarm: Disposable | undefined;
  /** People who have taken the session over: while there are some it is not left. */
  #holders = 0;
  #wasInterrupted = false;
  /** What the agent said last in this turn. */
  #said = '';
  #wasPrompted = false;
  /** Why the oldest message was not sent yet. */
  #waits = '';

  constructor(parts: RunTurnsParts) {
    this.#parts = parts;
  }

  /** Messages wait for the running turn, or for a session that takes them. */
  get hasMessages(): boolean {
    return this.#messages.length > 0 || this.#isSending;
  }

  started(event: Extract<SessionEvent, { type: 'turn-started' }>): void {
    const { state, story, phase, troubles } = this.#parts;
    this.#messageDeadline?.dispose();
    this.#alarm?.dispose();
    troubles.turnStarted(event.source);
    if (phase.isOpen) phase.move({ name: 'turn' });
    this.#said = '';
    this.#forgetMessage();
    story.turnStarted(event);
    state.act('Working');
    state.settle(event.source);
  }

  /** A person gave the session a prompt in its terminal. The one that the task began with is in the record and the log already. */
  prompted(text: string): void {
    const { state, story } = this.#parts;
    const summary = promptSummary(text);
    const isFirst = !this.#wasPrompted;
    this.#wasPrompted = true;
    if (isFirst && state.record.prompt_summary === summary) return;
    if (state.record.prompt_summary === NO_PROMPT) state.update({ prompt_summary: summary });
    story.prompted(text);
  }

  said(text: string): void {
    this.#said = text;
  }

  async ended(event: Extract<SessionEvent, { type: 'turn-ended' }>): Promise<void> {
    const { state, story, phase, ending, spec, troubles } = this.#parts;
    const { turns, change_seq } = state.record;
    // Of an interrupted turn the screen shows more than what the agent said.
    const message = event.interrupted === true && this.#said !== '' ? this.#said : event.message;
    this.#said = '';
    state.changed({
      turns: turns + 1,
      ...(message !== '' && {
        final_message: headBytes(message, this.#messageBytes()),
        last_output: tailChars(message, LAST_OUTPUT_CHARS),
      }),
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
      const outcome = troubles.turnFailed(event.error, event.source);
      if (outcome.held) return;
      ending.end({ status: 'failed', reason: outcome.reason }, 'close');
      return;
    }
    troubles.passed(event.source);
    const goesOn = this.#goesOn(event);
    if (this.#wakeUp !== undefined) this.#wakeAt(this.#wakeUp);
    if (this.#isSending || this.#messages.length > 0) {
      phase.move({ name: 'idle', why: 'sending' });
      await this.#sendNext();
    } else if (spec.keep_open || event.interrupted === true || this.#holders > 0) {
      this.#awaitMessage(event.interrupted === true, goesOn);
    } else if (goesOn !== undefined) {
      this.#awaitRest(goesOn);
    } else {
      await this.#leave();
    }
  }

  /** The message of the turn before is none of the turn that runs, also if that one is cut off. */
  #forgetMessage(): void {
    const { state } = this.#parts;
    if (state.record.final_message !== '') state.changed({ final_message: '' });
  }

  /** The trouble has passed: sends the session a message to go on. For a session in which no turn runs. Throws when it takes none. */
  async goOn(text: string): Promise<void> {
    if (this.#isSending) return;
    const result = await this.#send(text);
    if (result !== 'sent') throw new Error(`The session takes no message: ${whyNot(result)}.`);
  }

  /**
   * Sends a follow-up message, or interrupts the running turn, or both. A message that the session does not accept now is queued,
   * and sent as soon as it does. Throws INVALID_ARGUMENTS when too many wait.
   */
  async message(message: SentMessage): Promise<void> {
    if (message.interrupt === true) await this.#interrupt(message.by);
    if (message.text !== undefined) {
      if (!isNative(this.#parts.state.record)) checkIsNoCommand(message.text);
      if (this.#messages.length >= MAX_QUEUED_MESSAGES) {
        throw new BridgeError(
          'INVALID_ARGUMENTS',
          `${MAX_QUEUED_MESSAGES} messages already wait for the running turn.`,
          'Wait for the turn to end (wait_for_task), or interrupt it.',
        );
      }
      this.#messages.push(message.text);
    }
    const { phase } = this.#parts;
    if (!phase.takesMessage) return;
    const lost = await this.#sendNext();
    if (lost === undefined) return;
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `The message was not delivered: ${lost}.`,
      'Write it as a sentence to the agent, or type it at the terminal (claude-code-bridge attach).',
    );
  }

  /** Esc stops a turn, and takes away what covers the input box between turns. Throws when no key can be pressed. */
  async #interrupt(by: SentMessage['by']): Promise<void> {
    const { phase, driver, story, state } = this.#parts;
    if (this.#isSending || (!phase.turnRuns && driver.terminal === undefined)) return;
    const [open] = openDecisions(state.record);
    // Esc would answer a dialog of the start.
    if (!phase.turnRuns && open !== undefined) throw decisionIsOpen(open.decision_id);
    await driver.interrupt();
    if (phase.turnRuns) story.interrupted(by);
    else story.noticed('Esc was pressed at the terminal');
  }

  /** The model is not asked what a prompt said; `words`: why. */
  async blocked(words: string): Promise<void> {
    const { phase, state, story, spec, ending } = this.#parts;
    if (!phase.isOpen) return;
    if (state.record.turns === 0 || !spec.keep_open) {
      ending.end({ status: 'failed', reason: words }, 'close');
      return;
    }
    story.noticed(words);
    phase.move({ name: 'idle', why: 'message' });
    await this.#sendNext();
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
    const { phase, spec, state, ending } = this.#parts;
    if (!phase.isIdleFor('message') || this.hasMessages) return;
    if (spec.keep_open) {
      state.show({ activity: READY });
      return;
    }
    if (this.#wasInterrupted) {
      this.#awaitMessage(true);
      return;
    }
    this.#leave().catch((error: unknown) =>
      ending.end({ status: 'error', reason: `The session could not be left: ${messageOf(error)}` }),
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
      this.hasMessages || this.#goesOn(event) !== undefined || spec.keep_open || this.#holders > 0;
    return event.error === undefined && event.interrupted !== true && !goesOn && phase.isOpen;
  }

  #messageBytes(): number {
    return this.#parts.spec.purpose === 'ask' ? ANSWER_BYTES : FINAL_MESSAGE_BYTES;
  }

  dispose(): void {
    this.#messageDeadline?.dispose();
    this.#sendAgain?.dispose();
    this.#alarm?.dispose();
  }

  get #ready(): string {
    return isNative(this.#parts.state.record) ? READY_FOR_PERSON : READY;
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
    const { state, clock, phase, ending } = this.#parts;
    phase.move({ name: 'idle', why: 'background', goesOn });
    state.settle('exact');
    state.act(state.record.reason);
    if (this.#wakeUp !== undefined) return;
    this.#messageDeadline = clock.after(PROGRAMS_LIMIT_MS, () =>
      ending.end(endedWith(goesOn, 'ten minutes later')),
    );
  }

  #wakeAt({ atMs, prompt }: WakeUp): void {
    const { clock, phase, ending } = this.#parts;
    this.#alarm = clock.after(Math.max(0, atMs - clock.now()), () => {
      this.#wakeUp = undefined;
      this.#messages.push(prompt);
      if (!phase.takesMessage) return;
      this.#sendNext().catch((error: unknown) =>
        ending.end({ status: 'error', reason: `The session could not be carried on: ${messageOf(error)}` }),
      );
    });
  }

  #awaitMessage(interrupted: boolean, goesOn?: string): void {
    const { state, spec, clock, phase, ending } = this.#parts;
    phase.move({ name: 'idle', why: 'message', interrupted, ...(goesOn !== undefined && { goesOn }) });
    this.#wasInterrupted = interrupted;
    state.show({
      activity: this.#holders > 0 ? 'A person works at the terminal' : this.#ready,
    });
    state.settle('exact');
    if (!interrupted || spec.keep_open || this.#holders > 0) return;
    const seconds = spec.settings.decision_timeout_seconds;
    this.#messageDeadline = clock.after(seconds * 1000, () =>
      ending.end(
        {
          status: 'failed',
          reason: `The turn was interrupted, and no further message came within ${seconds} seconds.`,
        },
        'close',
      ),
    );
  }

  /**
   * Sends the oldest message, unless one is on its way; one that the session does not take now stays the oldest. Resolves with why one
   * was lost.
   */
  async #sendNext(): Promise<string | undefined> {
    const text = this.#isSending ? undefined : this.#messages.shift();
    if (text === undefined) return undefined;
    const result = await this.#send(text);
    switch (result) {
      case 'sent':
        return undefined;
      case 'left':
        return LEFT;
      case 'command':
      case 'kept':
        await this.#lost(text, losses[result]);
        return losses[result];
      case 'asked':
      case 'covered':
      case 'away':
        this.#messages.unshift(text);
        this.#keepMessage(refusals[result]);
        return undefined;
    }
  }

  /** The message is in the log; those after it are sent. */
  async #lost(text: string, why: string): Promise<void> {
    const { state, story, phase } = this.#parts;
    const words = `A message was not delivered: ${why}`;
    story.noticed(`${words}: ${oneLine(text, MAX_REASON_CHARS)}`);
    await this.#sendNext();
    if (!phase.isIdleFor('message')) return;
    state.act(words);
    state.settle('exact');
  }

  #keepMessage(why: string): void {
    const { state, story, clock, phase, ending } = this.#parts;
    // A turn that began meanwhile sends it at its end.
    if (!phase.takesMessage) return;
    const words = `${MESSAGE_WAITS}: ${why}`;
    if (this.#waits !== why) story.noticed(words);
    this.#waits = why;
    if (phase.isIdleFor('background')) phase.move({ name: 'idle', why: 'message' });
    state.act(words);
    state.settle('exact');
    this.#sendAgain = clock.after(SEND_AGAIN_MS, () => {
      if (!phase.takesMessage) return;
      this.#sendNext().catch((error: unknown) =>
        ending.end({ status: 'error', reason: `The session could not be carried on: ${messageOf(error)}` }),
      );
    });
  }

  async #send(text: string): Promise<SendResult> {
    const { state, story, phase, driver } = this.#parts;
    const { turns } = state.record;
    this.#messageDeadline?.dispose();
    this.#sendAgain?.dispose();
    this.#isSending = true;
    state.show({ activity: 'Working' });
    let result: SendResult | undefined;
    try {
      result = await driver.send(text);
    } finally {
      this.#isSending = false;
      // Nothing is on its way any more.
      if (result !== 'sent' && phase.isIdleFor('sending')) {
        phase.move({ name: 'idle', why: 'message' });
        state.settle('exact');
      }
    }
    if (result !== 'sent') return result;
    this.#waits = '';
    if (phase.isOpen) phase.messageSent();
    story.messageSent(text);
    // A short turn may be over by now.
    if (state.record.turns === turns) this.#forgetMessage();
    // What is shown until the turn shows something is no answer to this message.
    state.show({ last_output: '' });
    state.settle('exact');
    return result;
  }
}

/** The end of a task of which something goes on that will not be waited for. */
export function endedWith(goesOn: string, when: string): Cause {
  return {
    status: 'completed',
    reason: `The agent finished its work. When its session was ended ${when}: ${goesOn}.`,
  };
}

function decisionIsOpen(decisionId: string): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    `No turn runs, and ${decisionId} waits for an answer.`,
    'Answer it with respond_to_task, or end the task with kill_task.',
  );
}

function whyNot(result: Exclude<SendResult, 'sent'>): string {
  return result === 'left' ? LEFT : { ...refusals, ...losses }[result];
}
