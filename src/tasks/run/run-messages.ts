// Pure.
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
/** Why a message was not sent, and whether it never will be. */
const outcomes: Readonly<
  Record<Exclude<SendResult, 'sent'>, { readonly why: string; readonly isLost: boolean }>
> = {
  asked: { why: 'a decision is open', isLost: false },
  covered: { why: 'something covers the input box of Claude Code', isLost: false },
  away: { why: 'the session takes it at the end of its next turn', isLost: false },
  command: { why: 'Claude Code took it as a command of its own, and no turn began', isLost: true },
  kept: {
    why: 'ten seconds after Enter it was still in the input box, so it was taken out. Something else was typed there, or keybindings.json of Claude Code binds Enter to something else',
    isLost: true,
  },
  left: { why: 'the session ended when it was sent', isLost: true },
};

/** The messages on their way into a session: each is sent as soon as the session takes it. */
export class RunMessages {
  readonly #core: RunCore;
  /** Oldest first. */
  #queue: string[] = [];
  /** A message is on its way into the session. */
  #isSending = false;
  /** Esc may be pressed, which would take a message from the input box: none is sent meanwhile. */
  #isInterrupting = false;
  #sendAgain: Disposable | undefined;
  /** Why the oldest message was not sent yet. */
  #waits = '';

  constructor(core: RunCore) {
    this.#core = core;
  }

  /** Messages wait for the running turn, or for a session that takes them. */
  get areWaiting(): boolean {
    return this.#queue.length > 0 || this.#isSending;
  }

  /**
   * Sends a follow-up message, or interrupts the running turn, or both. A message that the session does not accept now is queued,
   * and sent as soon as it does. Throws INVALID_ARGUMENTS when too many wait.
   */
  async take({ text, interrupt, by }: SentMessage): Promise<void> {
    const { state, story, phase } = this.#core;
    if (interrupt === true) await this.#interrupt(by);
    if (text !== undefined) {
      checkIsNoCommand(text);
      state.changed({ messages: withMessage(state.record, this.#queue.length, text) });
      this.#queue.push(text);
      if (!phase.takesMessage)
        story.noticed(`A message waits ${waitsUntil(state.record)}: ${oneLine(text, SHOWN_CHARS)}`);
    }
    const lost = phase.takesMessage ? await this.sendNext() : undefined;
    if (lost === undefined) return;
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `The message was not delivered: ${lost}.`,
      'Write it as a sentence to the agent, or type it at the terminal (claude-code-bridge attach).',
    );
  }

  /** Esc stops a turn, and takes away what covers the input box between turns. Throws when no key can be pressed. */
  async #interrupt(by: string | undefined): Promise<void> {
    const { phase, driver, story, state } = this.#core;
    const turnRuns = phase.at === 'turn';
    if (this.#isSending || (!turnRuns && driver.terminal === undefined)) return;
    const [open] = openDecisions(state.record);
    // Esc would answer a dialog of the start.
    if (!turnRuns && open !== undefined)
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        `No turn runs, and ${open.decision_id} waits for an answer.`,
        [
          { do: 'answer', task: state.record.task_id },
          { do: 'end', task: state.record.task_id },
        ],
      );
    this.#isInterrupting = true;
    try {
      await driver.interrupt();
      if (turnRuns) story.tell('interrupt', { by }, `Interrupted by ${by ?? 'the caller'}`);
      else story.noticed('Esc was pressed at the terminal');
    } finally {
      this.#isInterrupting = false;
      this.#sendWaiting();
    }
  }

  /** A message of the agent or of the bridge, which is not in the record. */
  add(text: string): void {
    this.#queue.push(text);
    this.#sendWaiting();
  }

  /** Takes back what `add` was given and what was not sent yet. */
  takeBack(text: string): void {
    this.#queue = this.#queue.filter((one) => one !== text);
  }

  #sendWaiting(): void {
    const { state, phase } = this.#core;
    if (!phase.takesMessage) return;
    this.sendNext().catch((error: unknown) =>
      state.end({ status: 'error', reason: `The session could not be carried on: ${messageOf(error)}` }),
    );
  }

  /**
   * Sends the oldest message, unless one is on its way; one that the session does not take now stays the oldest. Resolves with why one
   * was lost; those after it are sent.
   */
  async sendNext(): Promise<string | undefined> {
    const text = this.#isSending || this.#isInterrupting ? undefined : this.#queue.shift();
    const result = text === undefined ? 'sent' : await this.#send(text);
    if (text === undefined || result === 'sent') return undefined;
    const { why, isLost } = outcomes[result];
    if (!isLost) {
      this.#queue.unshift(text);
      this.#keepWaiting(why);
      return undefined;
    }
    this.#noteLost(text, why);
    if (result !== 'left') await this.sendNext();
    const { state, phase } = this.#core;
    if (phase.at === 'message') {
      state.act(notDelivered(why));
      state.settle('exact');
    }
    return why;
  }

  /** The task ends: what was not delivered by now never is. */
  loseAll(): void {
    const { messages = [] } = this.#core.state.record;
    for (const { text, state } of messages)
      if (state === 'waiting') this.#noteLost(text, 'the task ended first');
  }

  #noteLost(text: string, why: string): void {
    this.#core.story.noticed(`${notDelivered(why)}: ${oneLine(text, MAX_REASON_CHARS)}`);
    this.#note(text, 'lost');
  }

  #note(text: string, became: 'delivered' | 'lost'): void {
    const { state } = this.#core;
    const messages = messageBecame(state.record, text, became);
    if (messages !== undefined) state.changed({ messages });
  }

  #keepWaiting(why: string): void {
    const { state, story, phase } = this.#core;
    // A turn that began meanwhile sends it at its end.
    if (!phase.takesMessage) return;
    const words = `${MESSAGE_WAITS}: ${why}`;
    if (this.#waits !== why) story.noticed(words);
    this.#waits = why;
    state.act(words);
    state.settle('exact');
    this.#sendAgain = phase.after(SEND_AGAIN_MS, () => this.#sendWaiting());
  }

  async #send(text: string): Promise<SendResult> {
    const { state, story, phase, driver } = this.#core;
    const { turns } = state.record;
    this.#sendAgain?.dispose();
    if (phase.takesMessage && phase.at !== 'blocked') phase.move({ at: 'sending' });
    this.#isSending = true;
    state.show({ activity: 'Working' });
    let result: SendResult | undefined;
    try {
      result = await driver.send(text);
    } finally {
      this.#isSending = false;
      // Nothing is on its way any more.
      if (result !== 'sent' && phase.at === 'sending') {
        phase.move({ at: 'message' });
        state.settle('exact');
      }
    }
    if (result !== 'sent') return result;
    this.#waits = '';
    if (phase.isOpen) phase.move({ at: 'turn' });
    story.messageSent(text);
    this.#note(text, 'delivered');
    // A short turn may be over by now.
    if (state.record.turns === turns) state.forgetMessage();
    // What is shown until the turn shows something is no answer to this message.
    state.show({ last_output: '' });
    state.settle('exact');
    return result;
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
      'Wait for the turn to end, or interrupt it.',
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
