import { BridgeError, messageOf } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import { oneLine } from '../../base/text.js';
import type { SendResult } from '../../claude/session.js';
import { MESSAGE_WAITS, waitsUntil } from '../polling-hint.js';
import { checkIsNoCommand } from '../prompt.js';
import { openDecisions, type TaskRecord } from '../task.js';
import type { SentMessage } from '../task-host.js';
import type { RunCore } from './run-state.js';

/** Messages that wait for the running turn; more than this is a caller that does not read answers. */
const MAX_QUEUED_MESSAGES = 20;
const MAX_REASON_CHARS = 300;
/** Of a message, in the record. */
const SHOWN_CHARS = 100;
/** A message that the session does not take now is sent again after this. */
const SEND_AGAIN_MS = 10_000;
const refusals = {
  asked: 'a decision is open',
  covered: 'something covers the input box of Claude Code',
  away: 'the session takes it at the end of its next turn',
} as const;
/** Why a message will never be sent. */
const losses = {
  command: 'Claude Code took it as a command of its own, and no turn began',
  kept: 'ten seconds after Enter it was still in the input box, so it was taken out. Something else was typed there, or keybindings.json of Claude Code binds Enter to something else',
} as const;
const LEFT = 'the session ended when it was sent';
const ENDED = 'the task ended first';

/** The messages on their way into a session: each is sent as soon as the session takes it. */
export class RunMessages implements Disposable {
  readonly #parts: RunCore;
  readonly #onSending: () => void;
  readonly #messages: string[] = [];
  /** A message is on its way into the session. */
  #isSending = false;
  /** Esc may be pressed, which would take a message from the input box: none is sent meanwhile. */
  #isInterrupting = false;
  #sendAgain: Disposable | undefined;
  /** Why the oldest message was not sent yet. */
  #waits = '';

  constructor(parts: RunCore, onSending: () => void) {
    this.#parts = parts;
    this.#onSending = onSending;
  }

  /** Messages wait for the running turn, or for a session that takes them. */
  get areWaiting(): boolean {
    return this.#messages.length > 0 || this.#isSending;
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
  async take(message: SentMessage): Promise<void> {
    if (message.interrupt === true) await this.#interrupt(message.by);
    if (message.text !== undefined) {
      checkIsNoCommand(message.text);
      this.#noteWaiting(message.text);
      this.#messages.push(message.text);
    }
    const { phase } = this.#parts;
    if (!phase.takesMessage) return;
    const lost = await this.sendNext();
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
    if (!phase.turnRuns && open !== undefined) throw decisionIsOpen(state.record.task_id, open.decision_id);
    const { turnRuns } = phase;
    this.#isInterrupting = true;
    try {
      await driver.interrupt();
    } catch (error) {
      this.#isInterrupting = false;
      this.#sendWaiting();
      throw error;
    }
    this.#isInterrupting = false;
    if (turnRuns) story.interrupted(by);
    else story.noticed('Esc was pressed at the terminal');
  }

  /** A message of the agent to itself. */
  add(text: string): void {
    this.#messages.push(text);
    this.#sendWaiting();
  }

  #sendWaiting(): void {
    const { state, phase } = this.#parts;
    if (!phase.takesMessage) return;
    this.sendNext().catch((error: unknown) =>
      state.end({ status: 'error', reason: `The session could not be carried on: ${messageOf(error)}` }),
    );
  }

  /**
   * Sends the oldest message, unless one is on its way; one that the session does not take now stays the oldest. Resolves with why one
   * was lost.
   */
  async sendNext(): Promise<string | undefined> {
    const text = this.#isSending || this.#isInterrupting ? undefined : this.#messages.shift();
    if (text === undefined) return undefined;
    const result = await this.#send(text);
    switch (result) {
      case 'sent':
        return undefined;
      case 'left':
        this.#noteLost(text, LEFT);
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
    const { state, phase } = this.#parts;
    this.#noteLost(text, why);
    await this.sendNext();
    if (!phase.isIdleFor('message')) return;
    state.act(notDelivered(why));
    state.settle('exact');
  }

  /** The task ends: what was not delivered by now never is. */
  loseAll(): void {
    const { messages = [] } = this.#parts.state.record;
    for (const { text, state } of messages) if (state === 'waiting') this.#noteLost(text, ENDED);
  }

  #noteWaiting(text: string): void {
    const { state, story, phase } = this.#parts;
    state.changed({ messages: withMessage(state.record, this.#messages.length, text) });
    if (!phase.takesMessage)
      story.noticed(`A message waits ${waitsUntil(state.record)}: ${oneLine(text, SHOWN_CHARS)}`);
  }

  #noteLost(text: string, why: string): void {
    this.#parts.story.noticed(`${notDelivered(why)}: ${oneLine(text, MAX_REASON_CHARS)}`);
    this.#note(text, 'lost');
  }

  #note(text: string, became: 'delivered' | 'lost'): void {
    const { state } = this.#parts;
    const messages = messageBecame(state.record, text, became);
    if (messages !== undefined) state.changed({ messages });
  }

  #keepMessage(why: string): void {
    const { state, story, clock, phase } = this.#parts;
    // A turn that began meanwhile sends it at its end.
    if (!phase.takesMessage) return;
    const words = `${MESSAGE_WAITS}: ${why}`;
    if (this.#waits !== why) story.noticed(words);
    this.#waits = why;
    if (phase.isIdleFor('background')) phase.move({ name: 'idle', why: 'message' });
    state.act(words);
    state.settle('exact');
    this.#sendAgain = clock.after(SEND_AGAIN_MS, () => this.#sendWaiting());
  }

  async #send(text: string): Promise<SendResult> {
    const { state, story, phase, driver } = this.#parts;
    const { turns } = state.record;
    this.#onSending();
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
    this.#note(text, 'delivered');
    // A short turn may be over by now.
    if (state.record.turns === turns) state.forgetMessage();
    // What is shown until the turn shows something is no answer to this message.
    state.show({ last_output: '' });
    state.settle('exact');
    return result;
  }

  dispose(): void {
    this.#sendAgain?.dispose();
  }
}

/** The messages of a record with one that waits behind `queued` others. Throws INVALID_ARGUMENTS when too many wait. */
export function withMessage(
  { messages = [] }: TaskRecord,
  queued: number,
  text: string,
): NonNullable<TaskRecord['messages']> {
  if (queued >= MAX_QUEUED_MESSAGES)
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `${MAX_QUEUED_MESSAGES} messages already wait for the running turn.`,
      'Wait for the turn to end (wait_for_task), or interrupt it.',
    );
  const one = { text: oneLine(text, SHOWN_CHARS), state: 'waiting' } as const;
  return [...messages, one].slice(-MAX_QUEUED_MESSAGES);
}

/** What became of the oldest message with this text; undefined for one that is not in the record, as those of the bridge itself. */
export function messageBecame(
  { messages = [] }: TaskRecord,
  text: string,
  became: 'delivered' | 'lost',
): TaskRecord['messages'] {
  const shown = oneLine(text, SHOWN_CHARS);
  const at = messages.findIndex((one) => one.state === 'waiting' && one.text === shown);
  return at < 0 ? undefined : messages.with(at, { text: shown, state: became });
}

function notDelivered(why: string): string {
  return `A message was not delivered: ${why}`;
}

function decisionIsOpen(taskId: string, decisionId: string): BridgeError {
  return new BridgeError(
    'INVALID_ARGUMENTS',
    `No turn runs, and ${decisionId} waits for an answer.`,
    `Answer it with respond_to_task, or end the task with kill_task ${taskId}.`,
  );
}

function whyNot(result: Exclude<SendResult, 'sent'>): string {
  return result === 'left' ? LEFT : { ...refusals, ...losses }[result];
}
