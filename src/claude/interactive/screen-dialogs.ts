// Pure.
import { messageOf } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { SessionAllowance, SessionAnswer, SessionEvent } from '../session.js';
import { DialogKeys, type KeyTarget, type PressResult } from './keys.js';
import { recogniseDialog, type Dialog, type DialogReading } from './dialogs.js';
import { staleDialogStep, type StaleDialog } from './stale-dialog.js';
import { readMenu, type Menu } from './menu.js';

/** A dialog must be unchanged for this long before it is trusted: the CLI may still be drawing it. */
const STABLE_MS = 150;
/**
 * An answered dialog that shows again may be a late frame on a busy machine; only after this time is it a new dialog with the same
 * text.
 */
const REAPPEARED_MS = 1_500;
/** How often Esc is pressed again when its dialog comes back. */
const MAX_DISMISSALS = 3;
/** An unknown menu is a dialog that waits if it stays for this long at the start; later, when it is not trusted either. */
const UNKNOWN_MS = 2_000;
/** A dialog that is not trusted and not answered is reported after this time, so that it does not wait unnoticed. */
const UNTRUSTED_MS = 10_000;

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

export interface ScreenDialogsOptions extends KeyTarget {
  readonly fire: (event: SessionEvent) => void;
  /** No turn has begun and no hook has come: only then a dialog on the screen is trusted. */
  readonly isStart: () => boolean;
  /** True while a hook's request is open: so is its dialog, whatever is painted over it. */
  readonly hookWaits: () => boolean;
  /** Resolves when keys can be pressed. */
  readonly whenOpen: () => Promise<void>;
  /** A hook reported that this turn ended with a usage limit. */
  readonly isLimitReported: () => boolean;
  /** A dialog of a running turn is on the screen: the turn has begun. */
  readonly onTurnSeen: () => void;
  /** A dialog of a running turn was denied by keys, which stops the turn before the agent gets `message`. */
  readonly onTurnStopped: (message: string) => Promise<void>;
}

/** The dialogs on the screen: reports each as one request, and answers by keys whose effect is checked. */
export class ScreenDialogs implements Disposable {
  readonly #options: ScreenDialogsOptions;
  #shown: { readonly identity: string; readonly sinceMs: number } | undefined;
  #open: Open | undefined;
  #next = 1;
  #staleDialog: StaleDialog | undefined;
  #again: Disposable | undefined;
  /** The identity of the dialog that was answered last. */
  #answered: string | undefined;
  #reported = '';
  /** Of the dialog that was reported as waiting. */
  #waiting: string | undefined;
  /** How often the current dialog was dismissed without a request. */
  #dismissals = 0;

  constructor(options: ScreenDialogsOptions) {
    this.#options = options;
  }

  /** A dialog waits for a person, known or not. */
  get isOpen(): boolean {
    return this.#open !== undefined || this.#waiting !== undefined;
  }

  /** Called when the screen may have changed. */
  check(): void {
    this.#again?.dispose();
    const menu = this.#menu();
    const seen = menu === undefined ? undefined : this.#recognise(menu);
    this.#closeGone(seen);
    const identity = seen?.identity ?? (menu === undefined ? undefined : textOf(menu));
    if (this.#waiting !== undefined && this.#waiting !== identity) this.#waits(undefined);
    if (identity === undefined) {
      this.#shown = undefined;
      this.#dismissals = 0;
      return;
    }
    if (this.#open !== undefined) return;
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#options.hookWaits()) {
      // The driver checks again when the request is closed.
      this.#shown = undefined;
      if (this.#staleDialog !== undefined) this.#staleDialog = { ...this.#staleDialog, sinceMs: nowMs };
      return;
    }
    if (this.#shown?.identity !== identity) this.#shown = { identity, sinceMs: nowMs };
    const shownMs = nowMs - this.#shown.sinceMs;
    if (seen === undefined || menu === undefined) {
      if (menu !== undefined) this.#watchUnknown(menu, identity, shownMs);
      return;
    }
    if (this.#handlesStaleDialog(seen, nowMs, shownMs)) return;
    const neededMs = seen.identity === this.#answered ? REAPPEARED_MS : STABLE_MS;
    if (shownMs < neededMs) this.#checkIn(neededMs - shownMs);
    // Any program can paint one, so the menu of a limit is trusted only after a hook reported the limit.
    else if (seen.dialog.dismissedUnasked === true && this.#options.isLimitReported()) this.#dismiss(seen);
    else if (!this.#options.isStart()) this.#watchUntrusted(seen, shownMs);
    else if (seen.dialog.when === 'turn') this.#options.onTurnSeen();
    else this.#take(seen);
  }

  /** A hook's answer should close this dialog; if it stays, it gets the same answer by keys. */
  answerStaleDialog(dialogId: string, answer: SessionAllowance): void {
    this.#staleDialog = { dialogId, answer, sinceMs: this.#options.clock.monotonicMs() };
    this.check();
  }

  /** A hook reported a new dialog of that kind, for which the earlier answer does not count. */
  forgetStaleDialog(dialogId: string): void {
    if (this.#staleDialog?.dialogId === dialogId) this.#staleDialog = undefined;
  }

  /** Never throws; `gone` when that dialog is no longer open. */
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
      this.#shown = undefined;
      this.#answered = open.identity;
      this.#checkIn(STABLE_MS);
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
    this.#staleDialog = undefined;
  }

  #closeGone(seen: Seen | undefined): void {
    const open = this.#open;
    if (open === undefined || seen?.identity === open.identity) return;
    this.#open = undefined;
    if (open.isAnswered) return;
    this.#options.fire({ type: 'request-gone', requestId: open.requestId });
  }

  #take(seen: Seen): void {
    this.#answered = undefined;
    const requestId = `screen-${this.#next++}`;
    this.#open = { ...seen, requestId, isAnswered: false };
    const { dialog, reading, menu } = seen;
    this.#options.fire({
      type: 'request',
      request: {
        requestId,
        kind: dialog.kind,
        tool: dialog.id,
        input: reading.input,
        summary: reading.summary,
        options: menu.options.map((option) => option.label),
        source: 'observed',
      },
    });
  }

  /** Esc chooses nothing and approves nothing, whatever dialog is really open. */
  #dismiss(seen: Seen): void {
    this.#shown = undefined;
    if (this.#dismissals > MAX_DISMISSALS) return;
    this.#dismissals++;
    this.#answered = seen.identity;
    this.#reportUnanswered(seen, this.#keysFor(seen, seen.reading.summary).dismiss());
    // After a lost key the screen would not change, so nothing else would trigger a check.
    this.#checkIn(REAPPEARED_MS);
  }

  /** True when this is the dialog that a hook's answer should have closed; then it is handled here. */
  #handlesStaleDialog(seen: Seen, nowMs: number, shownMs: number): boolean {
    const stale = this.#staleDialog;
    if (stale?.dialogId !== seen.dialog.id) return false;
    const next = staleDialogStep(stale, seen.menu, nowMs, shownMs);
    if (next.step === 'wait') {
      this.#checkIn(next.ms);
      return true;
    }
    this.#staleDialog = undefined;
    if (next.step === 'press') this.#pressUnasked(seen, stale.answer);
    else if (next.step === 'ask') this.#take(seen);
    else return false;
    return true;
  }

  #pressUnasked(seen: Seen, answer: SessionAnswer): void {
    this.#reportUnanswered(seen, this.#press(seen, answer));
  }

  #reportUnanswered(seen: Seen, pressing: Promise<PressResult>): void {
    pressing.then(
      (result) => {
        if (result === 'pressed' || result === 'gone' || result === 'held') return;
        const text = `The dialog "${seen.reading.summary}" did not accept its answer (${result}).`;
        this.#options.fire({ type: 'notice', text });
      },
      (error: unknown) => this.#options.fire({ type: 'notice', text: messageOf(error) }),
    );
  }

  #keysFor({ identity }: Seen, why: string): DialogKeys {
    const isSame = (menu: Menu): boolean => this.#recognise(menu)?.identity === identity;
    return new DialogKeys(this.#options, isSame, why);
  }

  async #press(seen: Seen, answer: SessionAnswer): Promise<PressResult> {
    const { dialog, reading } = seen;
    const keys = this.#keysFor(seen, `${answer.verdict}: ${reading.summary}`);
    if (answer.verdict === 'deny') {
      const result = await keys.choose(({ label }) => dialog.no.test(label));
      return result === 'no-such-option' ? keys.dismiss() : result;
    }
    const { yes, yesToEdits = yes } = dialog;
    const result = await keys.choose(({ label }) =>
      (answer.mode === 'acceptEdits' ? yesToEdits : yes).test(label),
    );
    // A menu without such an option still has a plain yes.
    return result === 'no-such-option' ? keys.choose(({ label }) => yes.test(label)) : result;
  }

  #menu(): Menu | undefined {
    const { lines, columns } = this.#options.screen();
    return readMenu(lines, columns);
  }

  #recognise(menu: Menu): Seen | undefined {
    const found = recogniseDialog(menu);
    if (found === undefined) return undefined;
    const labels = menu.options.map((option) => option.label);
    return { ...found, menu, identity: JSON.stringify([found.dialog.id, found.reading.input, labels]) };
  }

  /** Schedules a check, as the screen may not change any more. */
  #checkIn(delayMs: number): void {
    this.#again?.dispose();
    this.#again = this.#options.clock.after(delayMs, () => this.check());
  }

  /** Until its time is up it may be a dialog that is being closed. */
  #watchUnknown(menu: Menu, identity: string, shownMs: number): void {
    const waitsMs = this.#options.isStart() ? UNKNOWN_MS : UNTRUSTED_MS;
    if (shownMs < waitsMs) {
      this.#checkIn(waitsMs - shownMs);
      return;
    }
    const text = unknownText(menu);
    this.#reportOnce(text, identity);
    this.#waits(identity, text);
  }

  #watchUntrusted({ reading, identity }: Seen, shownMs: number): void {
    if (shownMs < UNTRUSTED_MS) {
      this.#checkIn(UNTRUSTED_MS - shownMs);
      return;
    }
    const text = `A dialog that no hook reported waits at the terminal: ${reading.summary}`;
    this.#reportOnce(text, identity);
    this.#waits(identity, text);
  }

  #waits(identity: string | undefined, text?: string): void {
    if (identity === this.#waiting) return;
    this.#waiting = identity;
    this.#options.fire({ type: 'dialog', text: text ?? null });
  }

  #reportOnce(text: string, identity: string): void {
    if (identity === this.#reported) return;
    this.#reported = identity;
    this.#options.fire({ type: 'notice', text });
  }
}

/** An unknown menu is reported, so that a new version's dialog does not wait unnoticed. */
function unknownText(menu: Menu): string {
  return `An unknown dialog waits: ${textOf(menu)}`;
}

function textOf(menu: Menu): string {
  return `${menu.heading.join(' ')} [${menu.options.map((option) => option.label).join(' | ')}]`;
}
