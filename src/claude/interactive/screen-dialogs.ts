// Pure.
import type { Disposable } from '../../base/lifecycle.js';
import { countedLine } from '../../base/text.js';
import type { SessionAnswer, SessionEvent } from '../session.js';
import { recogniseDialog, type Dialog } from './dialogs.js';
import { chooseOption, type KeyTarget } from './keys.js';
import { readMenu, type Menu } from './menu.js';

/** A dialog must be unchanged for this long before it is trusted: the CLI may still be drawing it. */
const STABLE_MS = 150;
/** An answered dialog that shows again may be a late frame on a busy machine; only after this time is it a new one with the same text. */
const REAPPEARED_MS = 1_500;
/** An unknown menu is a dialog that waits if it stays for this long at the start; later, when none is trusted, for the second time. */
const UNKNOWN_MS = 2_000;
const UNTRUSTED_MS = 10_000;
const LIMIT_OPTION = /^Stop and wait for limit to reset$/;
const SUMMARY_CHARS = 1_000;

/** A menu on the screen. */
interface Shown {
  readonly menu: Menu;
  /** The same on each repaint, so that it is asked once. */
  readonly identity: string;
  readonly known: { readonly dialog: Dialog; readonly asks: string } | undefined;
}

interface Asked {
  readonly requestId: string;
  readonly identity: string;
  readonly dialog: Dialog;
  readonly asks: string;
  isAnswered: boolean;
}

export interface ScreenDialogsOptions extends KeyTarget {
  readonly fire: (event: SessionEvent) => void;
  /** No turn has begun and no hook has come: only then a dialog on the screen is trusted. */
  readonly isStart: () => boolean;
  /** True while a hook's request is open: so is its dialog, whatever is painted over it. */
  readonly hookWaits: () => boolean;
  /** A hook reported that the last turn ended with a usage limit. */
  readonly isLimitReported: () => boolean;
}

/** The dialogs of the start: reports each as one request, and answers it by keys. A menu at another time is reported if it stays. */
export class ScreenDialogs implements Disposable {
  readonly #options: ScreenDialogsOptions;
  #seen: { readonly identity: string; readonly sinceMs: number } | undefined;
  #asked: Asked | undefined;
  #next = 1;
  #again: Disposable | undefined;
  /** The identity of the dialog that was answered last. */
  #answered: string | undefined;
  /** Of the menu that was reported as waiting. */
  #waiting: string | undefined;
  /** The menu of a limit that is shown has had its Esc. */
  #isDismissed = false;

  constructor(options: ScreenDialogsOptions) {
    this.#options = options;
  }

  /** A dialog waits for a person, known or not. */
  get isOpen(): boolean {
    return this.#asked !== undefined || this.#waiting !== undefined;
  }

  /** Called when the screen may have changed. */
  check(): void {
    this.#again?.dispose();
    const { clock, fire, hookWaits } = this.#options;
    const shown = this.#shown();
    if (this.#asked !== undefined && this.#asked.identity !== shown?.identity) this.#drop();
    if (this.#waiting !== undefined && this.#waiting !== shown?.identity) {
      this.#waiting = undefined;
      fire({ type: 'dialog', text: null });
    }
    if (shown === undefined || hookWaits()) this.#seen = undefined;
    if (shown === undefined) this.#isDismissed = false;
    if (shown === undefined || hookWaits() || this.isOpen) return;
    const nowMs = clock.monotonicMs();
    if (this.#seen?.identity !== shown.identity) this.#seen = { identity: shown.identity, sinceMs: nowMs };
    const leftMs = this.#seen.sinceMs + this.#neededMs(shown) - nowMs;
    if (leftMs > 0) this.#checkIn(leftMs);
    else if (this.#isOfLimit(shown)) this.#dismiss(shown);
    else if (this.#options.isStart() && shown.known !== undefined) this.#ask(shown, shown.known);
    else this.#wait(shown);
  }

  /** Never throws; `gone` when that dialog is no longer open. */
  async answer(requestId: string, answer: SessionAnswer): Promise<'answered' | 'gone'> {
    const asked = this.#asked;
    if (asked?.requestId !== requestId || asked.isAnswered) return 'gone';
    asked.isAnswered = true;
    const { dialog, asks, identity } = asked;
    const result = await chooseOption(this.#options, {
      isSame: (menu) => identityOf(menu) === identity,
      label: answer.verdict === 'deny' ? dialog.no : dialog.yes,
      why: `${answer.verdict}: ${asks}`,
    });
    if (result === 'pressed') {
      if (this.#asked === asked) this.#asked = undefined;
      this.#seen = undefined;
      this.#answered = identity;
      this.#checkIn(STABLE_MS);
      return 'answered';
    }
    asked.isAnswered = false;
    const text = `The dialog "${asks}" could not be answered (${result}).`;
    if (result !== 'gone') this.#options.fire({ type: 'trouble', kind: 'refused-to-start', text });
    return 'gone';
  }

  withdraw(why: string): void {
    this.#again?.dispose();
    this.#drop(why);
  }

  dispose(): void {
    this.#again?.dispose();
  }

  /** How long the menu must stay before anything is made of it. */
  #neededMs(shown: Shown): number {
    const { known, identity } = shown;
    if (this.#isOfLimit(shown)) return STABLE_MS;
    if (!this.#options.isStart()) return UNTRUSTED_MS;
    if (known === undefined) return UNKNOWN_MS;
    return identity === this.#answered ? REAPPEARED_MS : STABLE_MS;
  }

  /** To wait, or to pay. Any program can paint one, so it is trusted only after a hook reported the limit. */
  #isOfLimit({ menu }: Shown): boolean {
    const isIt = menu.options.some((label) => LIMIT_OPTION.test(label));
    return isIt && this.#options.isLimitReported() && !this.#isDismissed;
  }

  /** Esc chooses nothing and approves nothing, whatever dialog is really open. */
  #dismiss({ identity }: Shown): void {
    this.#isDismissed = true;
    const isSame = (menu: Menu): boolean => identityOf(menu) === identity;
    const why = 'Usage limit reached: stop and wait for the reset';
    void chooseOption(this.#options, { isSame, label: undefined, why });
  }

  #ask({ menu, identity }: Shown, { dialog, asks }: NonNullable<Shown['known']>): void {
    this.#answered = undefined;
    const requestId = `screen-${this.#next++}`;
    this.#asked = { requestId, identity, dialog, asks, isAnswered: false };
    this.#options.fire({
      type: 'request',
      request: {
        requestId,
        kind: dialog.kind,
        tool: dialog.id,
        input: { shows: menu.heading.join('\n') },
        summary: asks,
        options: menu.options,
        source: 'observed',
      },
    });
  }

  /** No hook told of it, so that it does not wait unnoticed. */
  #wait({ menu, identity, known }: Shown): void {
    const text = `A dialog that no hook reported waits at the terminal: ${known?.asks ?? textOf(menu)}`;
    this.#waiting = identity;
    this.#options.fire({ type: 'notice', text });
    this.#options.fire({ type: 'dialog', text });
  }

  /** The dialog that was asked about is no longer open. */
  #drop(why?: string): void {
    const asked = this.#asked;
    this.#asked = undefined;
    if (asked === undefined || asked.isAnswered) return;
    const { requestId } = asked;
    this.#options.fire({ type: 'request-gone', requestId, ...(why !== undefined && { why }) });
  }

  #shown(): Shown | undefined {
    const { lines, columns } = this.#options.screen();
    const menu = readMenu(lines, columns);
    return menu && { menu, identity: identityOf(menu), known: recogniseDialog(menu) };
  }

  /** Schedules a check, as the screen may not change any more. */
  #checkIn(delayMs: number): void {
    this.#again?.dispose();
    this.#again = this.#options.clock.after(delayMs, () => this.check());
  }
}

function identityOf({ heading, options }: Menu): string {
  return JSON.stringify([heading, options]);
}

function textOf({ heading, options }: Menu): string {
  return countedLine(`${heading.join(' ')} [${options.join(' | ')}]`, SUMMARY_CHARS);
}
