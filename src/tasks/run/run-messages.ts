// Pure: the messages on their way into a session.
import { BridgeError } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import { oneLine } from '../../base/text.js';
import type { SendResult } from '../../claude/session.js';
import { MESSAGE_WAITS, waitsUntil } from '../polling-hint.js';
import { checkIsNoCommand } from '../start-checks.js';
import { openDecisions, type TaskRecord } from '../task.js';
import type { SentMessage } from '../task-host.js';
import type { RunState } from './run-state.js';

/** Messages that wait for the running turn; more than this is a caller that does not read answers. */
const MAX_QUEUED_MESSAGES = 20;
const MAX_REASON_CHARS = 300;
/** Of a message, in the record. */
const SHOWN_CHARS = 100;
/** A message that the session does not take now is sent again after this. */
const SEND_AGAIN_MS = 10_000;
/** Why a message waits on. */
const waits: Readonly<Record<'asked' | 'covered' | 'away', string>> = {
  asked: 'a decision is open',
  covered: 'something covers the input box of Claude Code',
  away: 'the session takes it at the end of its next turn',
};
/** Why one never is sent. */
const losses: Readonly<Record<Exclude<SendResult, 'sent' | keyof typeof waits>, string>> = {
  command: 'Claude Code took it as a command of its own, and no turn began',
  kept: 'ten seconds after Enter it was still in the input box, so it was taken out. Something else was typed there, or keybindings.json of Claude Code binds Enter to something else',
  left: 'the session ended when it was sent',
};

/** Each message is sent as soon as the session takes it. */
export class RunMessages {
  readonly #run: RunState;
  /** Oldest first. */
  #queue: string[] = [];
  /** A message is on its way into the session. */
  #isSending = false;
  /** Esc may be pressed, which would take a message from the input box: none is sent meanwhile. */
  #isInterrupting = false;
  #sendAgain: Disposable | undefined;
  /** Why the oldest message was not sent yet. */
  #waits = '';

  constructor(run: RunState) {
    this.#run = run;
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
    const run = this.#run;
    if (interrupt === true) await this.#interrupt(by);
    if (text !== undefined) {
      checkIsNoCommand(text);
      run.changed({ messages: withMessage(run.record, this.#queue.length, text) });
      this.#queue.push(text);
      if (!run.takesMessage)
        run.story.noticed(`A message waits ${waitsUntil(run.record)}: ${oneLine(text, SHOWN_CHARS)}`);
    }
    const lost = run.takesMessage ? await this.sendNext() : undefined;
    if (lost === undefined) return;
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `The message was not delivered: ${lost}.`,
      'Write it as a sentence to the agent, or type it at the terminal (claude-code-bridge attach).',
    );
  }

  /** Esc stops a turn, and takes away what covers the input box between turns. Throws when no key can be pressed. */
  async #interrupt(by: string | undefined): Promise<void> {
    const { phase, story, record, parts } = this.#run;
    const turnRuns = phase.at === 'turn';
    if (this.#isSending || (!turnRuns && parts.driver.terminal === undefined)) return;
    const [open] = openDecisions(record);
    // Esc would answer a dialog of the start.
    if (!turnRuns && open !== undefined)
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        `No turn runs, and ${open.decision_id} waits for an answer.`,
        [
          { do: 'answer', task: record.task_id },
          { do: 'end', task: record.task_id },
        ],
      );
    this.#isInterrupting = true;
    try {
      await parts.driver.interrupt();
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
    if (this.#run.takesMessage) this.#run.orFail('The session could not be carried on', this.sendNext());
  }

  /**
   * Sends the oldest message, unless one is on its way; one that the session does not take now stays the oldest. Resolves with why one
   * was lost; those after it are sent.
   */
  async sendNext(): Promise<string | undefined> {
    const text = this.#isSending || this.#isInterrupting ? undefined : this.#queue.shift();
    const result = text === undefined ? 'sent' : await this.#send(text);
    if (text === undefined || result === 'sent') return undefined;
    if (result === 'asked' || result === 'covered' || result === 'away') {
      this.#queue.unshift(text);
      this.#keepWaiting(waits[result]);
      return undefined;
    }
    const why = losses[result];
    this.#lost(text, why);
    if (result !== 'left') await this.sendNext();
    if (this.#run.phase.at === 'message') {
      this.#run.act(notDelivered(why));
      this.#run.settle('exact');
    }
    return why;
  }

  /** The task ends: what was not delivered by now never is. */
  loseAll(): void {
    for (const { text, state } of this.#run.record.messages ?? [])
      if (state === 'waiting') this.#lost(text, 'the task ended first');
  }

  #lost(text: string, why: string): void {
    this.#run.story.noticed(`${notDelivered(why)}: ${oneLine(text, MAX_REASON_CHARS)}`);
    this.#note(text, 'lost');
  }

  #note(text: string, became: 'delivered' | 'lost'): void {
    const messages = messageBecame(this.#run.record, text, became);
    if (messages !== undefined) this.#run.changed({ messages });
  }

  #keepWaiting(why: string): void {
    const run = this.#run;
    // A turn that began meanwhile sends it at its end.
    if (!run.takesMessage) return;
    const words = `${MESSAGE_WAITS}: ${why}`;
    if (this.#waits !== why) run.story.noticed(words);
    this.#waits = why;
    run.act(words);
    run.settle('exact');
    this.#sendAgain = run.after(SEND_AGAIN_MS, () => this.#sendWaiting());
  }

  async #send(text: string): Promise<SendResult> {
    const run = this.#run;
    const { turns } = run.record;
    this.#sendAgain?.dispose();
    if (run.takesMessage && run.phase.at !== 'blocked') run.enter({ at: 'sending' });
    this.#isSending = true;
    run.show({ activity: 'Working' });
    let result: SendResult | undefined;
    try {
      result = await run.parts.driver.send(text);
    } finally {
      this.#isSending = false;
      // Nothing is on its way any more.
      if (result !== 'sent' && run.phase.at === 'sending') {
        run.enter({ at: 'message' });
        run.settle('exact');
      }
    }
    if (result !== 'sent') return result;
    this.#waits = '';
    if (run.isOpen) run.enter({ at: 'turn' });
    run.story.messageSent(text);
    this.#note(text, 'delivered');
    // A short turn may be over by now.
    if (run.record.turns === turns) run.forgetMessage();
    // What is shown until the turn shows something is no answer to this message.
    run.show({ last_output: '' });
    run.settle('exact');
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
