import type { Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { SessionAnswer, SessionEvent } from '../session.js';
import { chooseOption, dismiss, type KeyTarget, type PressResult } from './dialog-keys.js';
import { dialogs, recogniseDialog } from './dialogs/registry.js';
import type { Dialog, DialogReading } from './dialogs/dialog.js';
import { readMenu, type Menu } from './menu.js';

/** A dialog must stand unchanged this long before it is believed: it may still be being drawn. */
const STANDING_MS = 150;
/** A dialog that a hook has answered goes by itself well within this; longer, and it gets its answer by keys. */
const LEFT_OVER_MS = 1_000;

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
  readonly clock: Clock;
  readonly fire: (event: SessionEvent) => void;
  /** False while hooks are live: then only start dialogs are believed. */
  readonly believesAll: () => boolean;
}

/** The dialogs that stand on the screen: asks about each once, and answers by keys that are seen to take. */
export class ScreenDialogs {
  readonly #options: ScreenDialogsOptions;
  #candidate: { readonly identity: string; readonly sinceMs: number } | undefined;
  #open: Open | undefined;
  #next = 1;
  #leftOver:
    { readonly dialogId: string; readonly answer: SessionAnswer; readonly fromMs: number } | undefined;
  #unknownTold = '';

  constructor(options: ScreenDialogsOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Called when the screen may have changed. */
  look(): void {
    const menu = this.#menu();
    const seen = menu === undefined ? undefined : this.#recognise(menu);
    if (this.#open !== undefined && seen?.identity !== this.#open.identity) {
      const gone = this.#open;
      this.#open = undefined;
      if (!gone.isAnswered) {
        this.#options.fire({
          type: 'request-gone',
          requestId: gone.requestId,
          why: 'answered at the terminal',
        });
      }
    }
    if (menu === undefined || seen === undefined) {
      this.#candidate = undefined;
      if (menu !== undefined) this.#tellUnknown(menu);
      return;
    }
    if (this.#open !== undefined) return;
    if (this.#candidate?.identity !== seen.identity) {
      this.#candidate = { identity: seen.identity, sinceMs: this.#options.clock.monotonicMs() };
    }
    const standsMs = this.#options.clock.monotonicMs() - this.#candidate.sinceMs;
    if (this.#answersLeftOver(seen)) return;
    if (standsMs < STANDING_MS) {
      this.#options.clock.after(STANDING_MS - standsMs, () => this.look());
      return;
    }
    if (seen.dialog.atStart || this.#options.believesAll()) this.#ask(seen);
  }

  /** A dialog that a hook's answer should have closed: it gets the same answer by keys if it stays. */
  answerLeftOver(dialogId: string, answer: SessionAnswer): void {
    const { clock } = this.#options;
    this.#leftOver = { dialogId, answer, fromMs: clock.monotonicMs() + LEFT_OVER_MS };
    clock.after(LEFT_OVER_MS, () => this.look());
  }

  async answer(requestId: string, answer: SessionAnswer): Promise<'answered' | 'gone'> {
    const open = this.#open;
    if (open?.requestId !== requestId || open.isAnswered) return 'gone';
    open.isAnswered = true;
    const result = await this.#press(open, answer);
    if (result === 'pressed') return 'answered';
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
    this.#open = undefined;
    this.#leftOver = undefined;
    if (open !== undefined && !open.isAnswered)
      this.#options.fire({ type: 'request-gone', requestId: open.requestId, why });
  }

  #ask(seen: Seen): void {
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
        ...(dialog.kind === 'question' ? { questions: [questionOf(reading, menu)] } : {}),
        source: 'observed',
      },
    });
  }

  #answersLeftOver(seen: Seen): boolean {
    const leftOver = this.#leftOver;
    if (leftOver?.dialogId !== seen.dialog.id) return false;
    if (this.#options.clock.monotonicMs() < leftOver.fromMs) return true;
    this.#leftOver = undefined;
    this.#press(seen, leftOver.answer).then(
      (result) => {
        if (result !== 'pressed' && result !== 'gone') {
          this.#options.fire({
            type: 'notice',
            text: `The dialog "${seen.reading.summary}" did not take its answer (${result}).`,
          });
        }
      },
      (fault: unknown) => this.#options.fire({ type: 'notice', text: messageOf(fault) }),
    );
    return true;
  }

  #press(seen: Seen, answer: SessionAnswer): Promise<PressResult> {
    const { clock } = this.#options;
    const isSame = (menu: Menu): boolean => this.#recognise(menu)?.identity === seen.identity;
    if (seen.dialog.kind === 'question') {
      const chosen = answer.verdict === 'deny' ? undefined : Object.values(answer.answers ?? {})[0];
      if (chosen === undefined) return dismiss(this.#options, clock, isSame);
      return chooseOption(this.#options, clock, (label) => label === chosen, isSame);
    }
    const wanted = seen.dialog.optionFor[answer.verdict];
    if (!seen.menu.options.some((option) => wanted.test(option.label))) {
      if (answer.verdict === 'deny') return dismiss(this.#options, clock, isSame);
      // A menu without a lasting yes still has a plain one.
      return chooseOption(this.#options, clock, (label) => seen.dialog.optionFor.allow.test(label), isSame);
    }
    return chooseOption(this.#options, clock, (label) => wanted.test(label), isSame);
  }

  #menu(): Menu | undefined {
    const { lines, columns } = this.#options.lines();
    return readMenu(lines, columns);
  }

  #recognise(menu: Menu): Seen | undefined {
    const found = recogniseDialog(menu);
    if (found === undefined) return undefined;
    const identity = JSON.stringify([
      found.dialog.id,
      found.reading.input,
      menu.options.map((option) => option.label),
    ]);
    return { ...found, menu, identity };
  }

  /** A menu that nobody knows is told once, so that a new version's dialog does not wait unseen. */
  #tellUnknown(menu: Menu): void {
    const text = `A dialog that the bridge does not know waits: ${menu.heading.join(' ')} [${menu.options.map((option) => option.label).join(' | ')}]`;
    if (text === this.#unknownTold) return;
    this.#unknownTold = text;
    this.#options.fire({ type: 'notice', text });
  }
}

function questionOf(
  reading: DialogReading,
  menu: Menu,
): { question: string; header: string; multiSelect: boolean; options: { label: string }[] } {
  const labels = menu.options
    .map((option) => option.label)
    .filter((label) => !/^(Type something\.?|Chat about this)$/.test(label));
  return {
    question: reading.input['question'] ?? '',
    header: reading.input['header'] ?? '',
    multiSelect: false,
    options: labels.map((label) => ({ label })),
  };
}

/** Ids of the dialogs that may stand before the first prompt. */
export const startDialogIds: readonly string[] = dialogs
  .filter((dialog) => dialog.atStart)
  .map((dialog) => dialog.id);
