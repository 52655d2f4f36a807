import { nextEvent, type Event } from '../../base/event.js';
import { withinMs, type Clock } from '../../base/clock.js';
import type { MenuOption } from './menu-options.js';
import { readMenu, type Menu } from './menu.js';

const KEY_DOWN = '\x1b[B';
const KEY_UP = '\x1b[A';
const KEY_ENTER = '\r';
const KEY_ESCAPE = '\x1b';
/** The CLI redraws well within this after a key; a key that changed nothing by then was lost. */
const REDRAW_LIMIT_MS = 1500;
/** A lost key is pressed again so many times; then something else is wrong. */
const MAX_LOST_KEYS = 2;
/** More keys than any menu has options: a mark that does not arrive is not chased for ever. */
const MAX_MOVES = 40;

/** The terminal as this needs it. */
export interface KeyTarget {
  readonly lines: () => { readonly lines: readonly string[]; readonly columns: number };
  readonly onFrame: Event<void>;
  /** False, and nothing is pressed, while a request of a hook is open. */
  readonly press: (keys: string, why: string) => boolean;
}

/** `held`: a request of a hook is open, so the next key was not pressed. */
export type PressResult = 'pressed' | 'no-such-option' | 'gone' | 'stuck' | 'held';

/**
 * Presses keys on one menu as a careful person does: looks before each key, and sees what it did before the next.
 * `isSame` says whether the menu on the screen is still the one that was asked about; nothing is pressed on any other.
 */
export class DialogKeys {
  readonly #target: KeyTarget;
  readonly #clock: Clock;
  readonly #isSame: (menu: Menu) => boolean;
  readonly #why: string;

  /** `why`: what the keys are pressed for, for the journal. */
  constructor(target: KeyTarget, clock: Clock, isSame: (menu: Menu) => boolean, why: string) {
    this.#target = target;
    this.#clock = clock;
    this.#isSame = isSame;
    this.#why = why;
  }

  /** The menu that was asked about, or undefined when it is not on the screen. */
  menu(): Menu | undefined {
    const { lines, columns } = this.#target.lines();
    const menu = readMenu(lines, columns);
    return menu !== undefined && this.#isSame(menu) ? menu : undefined;
  }

  /** Moves the mark to the first option that is wanted, sees it there, and only then presses Enter. */
  async choose(wanted: (option: MenuOption) => boolean): Promise<PressResult> {
    const moved = await this.moveTo(wanted);
    return moved === 'pressed' ? this.enter() : moved;
  }

  /** `pressed` when the mark stands on the first option that is wanted. */
  async moveTo(wanted: (option: MenuOption) => boolean): Promise<PressResult> {
    for (let moves = 0; moves < MAX_MOVES; moves++) {
      const menu = this.menu();
      if (menu === undefined) return 'gone';
      const goal = menu.options.findIndex(wanted);
      if (goal === -1) return 'no-such-option';
      if (menu.marked === goal) return 'pressed';
      const key = goal > menu.marked ? KEY_DOWN : KEY_UP;
      const moved = await this.#press(key, (next) => next?.marked !== menu.marked);
      if (moved !== 'pressed') return moved;
    }
    return 'stuck';
  }

  /** Enter on what is marked; `pressed` when the menu has gone. */
  async enter(): Promise<PressResult> {
    if (this.menu() === undefined) return 'gone';
    return this.#press(KEY_ENTER, (next) => next === undefined);
  }

  /** Esc on the menu: the CLI's own way to say no. */
  async dismiss(): Promise<PressResult> {
    if (this.menu() === undefined) return 'gone';
    return this.#press(KEY_ESCAPE, (next) => next === undefined);
  }

  /** Types at the menu once, and waits until it shows what `accept` looks for. */
  async type(keys: string, accept: (menu: Menu) => boolean): Promise<PressResult> {
    const menu = this.menu();
    if (menu === undefined) return 'gone';
    if (!this.#target.press(keys, this.#why)) return 'held';
    const taken = await this.#changed((next) => next === undefined || accept(next));
    if (this.menu() === undefined) return 'gone';
    return taken ? 'pressed' : 'stuck';
  }

  /** A key that shows no effect is pressed again, as long as the menu is still there. */
  async #press(
    key: string,
    accept: (menu: Menu | undefined) => boolean,
  ): Promise<'pressed' | 'stuck' | 'held'> {
    for (let lost = 0; lost <= MAX_LOST_KEYS; lost++) {
      if (this.menu() === undefined) return accept(undefined) ? 'pressed' : 'stuck';
      if (!this.#target.press(key, this.#why)) return 'held';
      if (await this.#changed(accept)) return 'pressed';
    }
    return 'stuck';
  }

  /** Resolves true when a frame shows what `accept` waits for, false when the limit passed first. */
  async #changed(accept: (menu: Menu | undefined) => boolean): Promise<boolean> {
    if (accept(this.menu())) return true;
    const seen = nextEvent(this.#target.onFrame, () => accept(this.menu())).then(() => true);
    return (await withinMs(this.#clock, REDRAW_LIMIT_MS, seen)) === true;
  }
}
