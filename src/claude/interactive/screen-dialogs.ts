import type { Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { Question, SessionAllowance, SessionAnswer, SessionEvent } from '../session.js';
import { DialogKeys, type KeyTarget, type PressResult } from './dialog-keys.js';
import type { Dialog, DialogReading } from './dialogs/dialog.js';
import { recogniseDialog } from './dialogs/registry.js';
import { leftOverStep, type LeftOver } from './left-over.js';
import { readMenu, type Menu } from './menu.js';
import { answerQuestion } from './question-keys.js';

/** A dialog must stand unchanged this long before it is believed: it may still be being drawn. */
const STANDING_MS = 150;
/**
 * A dialog that was answered and stands there again is a frame of its going, drawn late on a busy machine; only after this
 * is it another one of the same words.
 */
const REAPPEARED_MS = 1_500;
/** An answer whose dialog comes back is given so many times more; then it is asked again. */
const MAX_REPEATS = 3;
/** A dialog that is not believed and that nobody answers is told after this, so that it does not wait unseen. */
const UNSEEN_MS = 10_000;

interface Seen {
  readonly dialog: Dialog;
  readonly reading: DialogReading;
  readonly menu: Menu;
  readonly identity: string;
}

interface Open extends Seen {
  readonly requestId: string;
  isAnswered: boolean;
}

/**
 * How far a session is, for the question which dialogs may be believed. `start`: nothing has begun. `screen`: a turn was
 * seen and no hook came, so hooks are off. `hooks`: hooks tell everything, and no dialog on the screen counts.
 */
export type DialogPhase = 'start' | 'screen' | 'hooks';

export interface ScreenDialogsOptions extends KeyTarget {
  readonly clock: Clock;
  readonly fire: (event: SessionEvent) => void;
  readonly phase: () => DialogPhase;
  /** True while a request of a hook is open: its dialog stands on the screen meanwhile, whatever else is painted over it. */
  readonly hookWaits: () => boolean;
  /** Resolves when keys are taken. */
  readonly whenOpen: () => Promise<void>;
  /** The CLI said, by more than its screen, that this turn ended by a usage limit. */
  readonly isLimitTold: () => boolean;
  /** A dialog of a running turn stands there: the turn has begun. */
  readonly onTurnSeen: () => void;
  /** A dialog of a running turn was denied by keys, which stops the turn; the agent has not seen `message`. */
  readonly onTurnStopped: (message: string) => Promise<void>;
  /** A dialog about which nobody is asked is dismissed. */
  readonly onDismissed?: (dialogId: string) => void;
}

/** The dialogs that stand on the screen: asks about each once, and answers by keys that are seen to take. */
export class ScreenDialogs implements Disposable {
  readonly #options: ScreenDialogsOptions;
  #standing: { readonly identity: string; readonly sinceMs: number } | undefined;
  #open: Open | undefined;
  #next = 1;
  #leftOver: LeftOver | undefined;
  #again: Disposable | undefined;
  #answered:
    { readonly identity: string; readonly answer: SessionAnswer; readonly repeats: number } | undefined;
  #told = '';
  #answersGiven = false;
  /** How often the dialog that stands there was dismissed without asking anybody. */
  #dismissals = 0;

  constructor(options: ScreenDialogsOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Called when the screen may have changed. */
  look(): void {
    this.#again?.dispose();
    const menu = this.#menu();
    const seen = menu === undefined ? undefined : this.#recognise(menu);
    this.#closeGone(seen);
    const identity = seen?.identity ?? (menu === undefined ? undefined : textOf(menu));
    if (identity === undefined) {
      this.#standing = undefined;
      this.#dismissals = 0;
      return;
    }
    if (this.#open !== undefined) return;
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#options.hookWaits()) {
      // The driver has it looked at again when the request is closed.
      this.#standing = undefined;
      if (this.#leftOver !== undefined) this.#leftOver = { ...this.#leftOver, sinceMs: nowMs };
      return;
    }
    if (this.#standing?.identity !== identity) this.#standing = { identity, sinceMs: nowMs };
    const standsMs = nowMs - this.#standing.sinceMs;
    if (seen === undefined || menu === undefined) {
      if (menu !== undefined && standsMs >= STANDING_MS) this.#tellOnce(unknownText(menu), identity);
      else this.#lookIn(STANDING_MS - standsMs);
      return;
    }
    if (this.#isLeftOver(seen, nowMs, standsMs)) return;
    const neededMs = seen.identity === this.#answered?.identity ? REAPPEARED_MS : STANDING_MS;
    if (standsMs < neededMs) this.#lookIn(neededMs - standsMs);
    else if (seen.dialog.dismissedUnasked === true && this.#isLimit()) this.#dismiss(seen);
    else if (this.#believes(seen.dialog)) this.#take(seen);
    else this.#watchUnseen(seen, standsMs);
  }

  /** A dialog that a hook's answer should have closed: it gets the same answer by keys if it stays. */
  answerLeftOver(dialogId: string, answer: SessionAllowance): void {
    this.#leftOver = { dialogId, answer, sinceMs: this.#options.clock.monotonicMs() };
    this.look();
  }

  /** A hook tells of a dialog of that kind: an earlier answer is none to it. */
  forgetLeftOver(dialogId: string): void {
    if (this.#leftOver?.dialogId === dialogId) this.#leftOver = undefined;
  }

  /** Throws nothing; `gone` when that dialog no longer stands there. */
  async answer(requestId: string, answer: SessionAnswer): Promise<'answered' | 'gone'> {
    const open = this.#open;
    if (open?.requestId !== requestId || open.isAnswered) return 'gone';
    open.isAnswered = true;
    let result = await this.#press(open, answer);
    while (result === 'held') {
      await this.#options.whenOpen();
      result = await this.#press(open, answer);
    }
    if (result === 'pressed') {
      if (this.#open === open) this.#open = undefined;
      this.#standing = undefined;
      this.#answered = { identity: open.identity, answer, repeats: 0 };
      if (open.dialog.kind === 'question') this.#answersGiven = answer.verdict !== 'deny';
      this.#lookIn(STANDING_MS);
      if (answer.verdict === 'deny' && open.dialog.when === 'turn')
        await this.#options.onTurnStopped(answer.message);
      return 'answered';
    }
    open.isAnswered = false;
    if (result === 'gone') return 'gone';
    this.#options.fire({
      type: 'trouble',
      kind: 'refused-to-start',
      text: `The dialog "${open.reading.summary}" could not be answered (${result}).`,
    });
    return 'gone';
  }

  withdraw(why: string): void {
    const open = this.#open;
    this.dispose();
    if (open !== undefined && !open.isAnswered)
      this.#options.fire({ type: 'request-gone', requestId: open.requestId, why });
  }

  dispose(): void {
    this.#again?.dispose();
    this.#open = undefined;
    this.#leftOver = undefined;
  }

  #believes({ when }: Dialog): boolean {
    const phase = this.#options.phase();
    if (phase === 'hooks') return false;
    // Without hooks the first dialog of a turn may stand there before the turn itself was seen.
    return phase === 'start' || when === 'turn';
  }

  /** With live hooks a menu of a limit counts only after they told of that limit: any program can paint one. */
  #isLimit(): boolean {
    return this.#options.phase() !== 'hooks' || this.#options.isLimitTold();
  }

  #closeGone(seen: Seen | undefined): void {
    const open = this.#open;
    if (open === undefined || seen?.identity === open.identity) return;
    this.#open = undefined;
    if (open.isAnswered) return;
    this.#options.fire({ type: 'request-gone', requestId: open.requestId });
  }

  #take(seen: Seen): void {
    if (seen.dialog.when === 'turn') this.#options.onTurnSeen();
    const answered = this.#answered;
    this.#answered = undefined;
    if (
      seen.dialog.when === 'start' &&
      seen.identity === answered?.identity &&
      answered.repeats < MAX_REPEATS
    ) {
      // Nobody is asked twice whether to trust a folder: the key was lost, and is pressed again.
      this.#answered = { ...answered, repeats: answered.repeats + 1 };
      this.#pressUnasked(seen, answered.answer);
      return;
    }
    if (seen.dialog.id === 'review-answers' && this.#answersGiven) {
      this.#answersGiven = false;
      this.#pressUnasked(seen, { verdict: 'allow' });
      return;
    }
    const requestId = `screen-${this.#next++}`;
    this.#open = { ...seen, requestId, isAnswered: false };
    const { dialog, reading, menu } = seen;
    const labels = reading.choices?.map((choice) => choice.label);
    this.#options.fire({
      type: 'request',
      request: {
        requestId,
        kind: dialog.kind,
        tool: dialog.id,
        input: reading.input,
        summary: reading.summary,
        options: labels ?? menu.options.map((option) => option.label),
        ...(reading.choices === undefined ? {} : { questions: [questionOf(reading)] }),
        source: 'observed',
      },
    });
  }

  /** Esc takes nothing from the menu and approves nothing, whatever dialog is there in truth. */
  #dismiss(seen: Seen): void {
    this.#standing = undefined;
    if (this.#dismissals > MAX_REPEATS) return;
    this.#dismissals++;
    this.#answered = { identity: seen.identity, answer: { verdict: 'allow' }, repeats: 0 };
    this.#options.onDismissed?.(seen.dialog.id);
    this.#tellUntaken(seen, this.#keysFor(seen, seen.reading.summary).dismiss());
    // A key that was lost leaves a screen on which nothing changes any more.
    this.#lookIn(REAPPEARED_MS);
  }

  /** True when what stands there is what a hook's answer should have closed; it is seen to. */
  #isLeftOver(seen: Seen, nowMs: number, standsMs: number): boolean {
    const leftOver = this.#leftOver;
    if (leftOver?.dialogId !== seen.dialog.id) return false;
    const next = leftOverStep(leftOver, seen.menu, nowMs, standsMs);
    if (next.step === 'wait') {
      this.#lookIn(next.ms);
      return true;
    }
    this.#leftOver = undefined;
    if (next.step === 'press') this.#pressUnasked(seen, leftOver.answer);
    else if (next.step === 'ask') this.#take(seen);
    else return false;
    return true;
  }

  #pressUnasked(seen: Seen, answer: SessionAnswer): void {
    this.#tellUntaken(seen, this.#press(seen, answer));
  }

  #tellUntaken(seen: Seen, pressing: Promise<PressResult>): void {
    pressing.then(
      (result) => {
        if (result === 'pressed' || result === 'gone' || result === 'held') return;
        const text = `The dialog "${seen.reading.summary}" did not take its answer (${result}).`;
        this.#options.fire({ type: 'notice', text });
      },
      (error: unknown) => this.#options.fire({ type: 'notice', text: messageOf(error) }),
    );
  }

  #keysFor({ identity }: Seen, why: string): DialogKeys {
    const isSame = (menu: Menu): boolean => this.#recognise(menu)?.identity === identity;
    return new DialogKeys(this.#options, this.#options.clock, isSame, why);
  }

  async #press(seen: Seen, answer: SessionAnswer): Promise<PressResult> {
    const { dialog, reading } = seen;
    const keys = this.#keysFor(seen, `${answer.verdict}: ${reading.summary}`);
    if (dialog.kind === 'question') {
      const chosen = answer.verdict === 'deny' ? undefined : Object.values(answer.answers ?? {})[0];
      return chosen === undefined ? keys.dismiss() : answerQuestion(keys, chosen);
    }
    const acceptsEdits = answer.verdict !== 'deny' && answer.mode === 'acceptEdits';
    const wanted = (acceptsEdits ? dialog.optionForEdits : undefined) ?? dialog.optionFor[answer.verdict];
    let result = await keys.choose((option) => wanted.test(option.label));
    if (result === 'no-such-option' && (acceptsEdits || answer.verdict === 'allow_session')) {
      // A menu without a lasting yes still has a plain one.
      result = await keys.choose((option) => dialog.optionFor.allow.test(option.label));
    }
    if (result !== 'no-such-option') return result;
    if (answer.verdict === 'deny') return keys.dismiss();
    return dialog.enterAllows === true ? keys.enter() : 'no-such-option';
  }

  #menu(): Menu | undefined {
    const { lines, columns } = this.#options.lines();
    return readMenu(lines, columns);
  }

  #recognise(menu: Menu): Seen | undefined {
    const found = recogniseDialog(menu);
    if (found === undefined) return undefined;
    const labels = found.reading.choices ?? menu.options.map((option) => option.label);
    return { ...found, menu, identity: JSON.stringify([found.dialog.id, found.reading.input, labels]) };
  }

  /** One more look when nothing may change by itself any more. */
  #lookIn(delayMs: number): void {
    this.#again?.dispose();
    this.#again = this.#options.clock.after(delayMs, () => this.look());
  }

  #watchUnseen({ reading, identity }: Seen, standsMs: number): void {
    if (standsMs < UNSEEN_MS) this.#lookIn(UNSEEN_MS - standsMs);
    else
      this.#tellOnce(`A dialog waits at the terminal that no hook told about: ${reading.summary}`, identity);
  }

  #tellOnce(text: string, identity: string): void {
    if (identity === this.#told) return;
    this.#told = identity;
    this.#options.fire({ type: 'notice', text });
  }
}

/** A menu that nobody knows is told, so that a new version's dialog does not wait unseen. */
function unknownText(menu: Menu): string {
  return `A dialog that the bridge does not know waits: ${textOf(menu)}`;
}

function textOf(menu: Menu): string {
  return `${menu.heading.join(' ')} [${menu.options.map((option) => option.label).join(' | ')}]`;
}

function questionOf({ input, choices = [], isMulti = false }: DialogReading): Question {
  return {
    question: input['question'] ?? '',
    header: input['header'] ?? '',
    multiSelect: isMulti,
    options: choices,
  };
}
