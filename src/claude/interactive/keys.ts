// Pure: the keys that the bridge presses in a session of Claude Code.
import { sleep, withinMs, type Clock } from '../../base/clock.js';
import { nextEvent, type Event } from '../../base/lifecycle.js';
import type { SessionEvent } from '../session.js';
import { readMenu, type Menu, type MenuOption } from './menu.js';

const ESCAPE = '\x1b';
/** A dialog that a hook answered closes well within this time; until then a key would reach it. */
const CLOSING_MS = 1_000;
const keyNames: Readonly<Record<string, string>> = {
  [ESCAPE]: 'Esc',
  '\x1b[A': 'Up',
  '\x1b[B': 'Down',
  '\r': 'Enter',
  ' ': 'Space',
  '\x03': 'Ctrl-C',
  '\x04': 'Ctrl-D',
  '\x15': 'Ctrl-U',
};

export interface KeyGateOptions {
  readonly clock: Clock;
  /** False when the program accepts no more keys. */
  readonly write: (keys: string) => boolean;
  /** The requests of hooks. While one is open, so is its dialog, whatever the screen shows. */
  readonly requests: { readonly isWaiting: boolean; readonly onDidClose: Event<void> };
  readonly fire: (event: SessionEvent) => void;
}

/**
 * All keys that the bridge presses in a session of Claude Code go through here. It presses none while a request is open, because any
 * program of the agent can paint another screen over the dialog of that request. A person's keys do not pass through here.
 */
export class KeyGate {
  readonly #options: KeyGateOptions;
  #closedAtMs = -Infinity;

  constructor(options: KeyGateOptions) {
    this.#options = options;
    options.requests.onDidClose(() => (this.#closedAtMs = options.clock.monotonicMs()));
  }

  /** A request of a hook is open. */
  get isAsked(): boolean {
    return this.#options.requests.isWaiting;
  }

  /** Presses one key or pastes one text. Presses nothing and returns false while a request, or perhaps its dialog, is open. */
  press(keys: string, why: string): boolean {
    // Esc approves nothing, so it is harmless on a closing dialog.
    if (this.isAsked || (keys !== ESCAPE && this.#closingMs() > 0)) return false;
    if (!this.#options.write(keys)) return false;
    this.#options.fire({ type: 'keys', keys: keyNames[keys] ?? 'text', why });
    return true;
  }

  /** Resolves when keys can be pressed; never while a request stays open. */
  async whenOpen(): Promise<void> {
    const { clock, requests } = this.#options;
    while (this.isAsked || this.#closingMs() > 0) {
      if (this.isAsked) await nextEvent(requests.onDidClose);
      else await sleep(clock, this.#closingMs());
    }
  }

  #closingMs(): number {
    return this.#closedAtMs + CLOSING_MS - this.#options.clock.monotonicMs();
  }
}

const KEY_DOWN = '\x1b[B';
const KEY_UP = '\x1b[A';
const KEY_ENTER = '\r';
/** The CLI redraws well within this time after a key; a key without effect by then was lost. */
const REDRAW_LIMIT_MS = 1500;
/** How often a lost key is pressed again. */
const MAX_LOST_KEYS = 2;
/** More than any menu has options: bounds the moves when the selection never reaches its target. */
const MAX_MOVES = 40;

/** The terminal, as far as keys need it. */
export interface KeyTarget {
  readonly clock: Clock;
  readonly screen: () => { readonly lines: readonly string[]; readonly columns: number };
  readonly onFrame: Event<void>;
  /** Presses nothing and returns false while a hook's request is open. */
  readonly press: (keys: string, why: string) => boolean;
}

/** `held`: the next key was not pressed because a hook's request is open. */
export type PressResult = 'pressed' | 'no-such-option' | 'gone' | 'stuck' | 'held';

/**
 * Presses keys on one menu, and checks the screen before each key and its effect before the next. `isSame` decides whether the menu on
 * the screen is still the requested one; no key is pressed on another.
 */
export class DialogKeys {
  readonly #target: KeyTarget;
  readonly #isSame: (menu: Menu) => boolean;
  readonly #why: string;

  /** `why`: the purpose of the keys, for the journal. */
  constructor(target: KeyTarget, isSame: (menu: Menu) => boolean, why: string) {
    this.#target = target;
    this.#isSame = isSame;
    this.#why = why;
  }

  /** The requested menu, or undefined when it is not on the screen. */
  menu(): Menu | undefined {
    const { lines, columns } = this.#target.screen();
    const menu = readMenu(lines, columns);
    return menu !== undefined && this.#isSame(menu) ? menu : undefined;
  }

  /** Selects the first wanted option, checks the selection, and then presses Enter. */
  async choose(wanted: (option: MenuOption) => boolean): Promise<PressResult> {
    const moved = await this.moveTo(wanted);
    return moved === 'pressed' ? this.enter() : moved;
  }

  /** Returns `pressed` when the first wanted option is selected. */
  async moveTo(wanted: (option: MenuOption) => boolean): Promise<PressResult> {
    for (let moves = 0; moves < MAX_MOVES; moves++) {
      const menu = this.menu();
      if (menu === undefined) return 'gone';
      const goal = menu.options.findIndex(wanted);
      if (goal === -1) return 'no-such-option';
      if (menu.selected === goal) return 'pressed';
      const key = goal > menu.selected ? KEY_DOWN : KEY_UP;
      const moved = await this.#press(key, (next) => next?.selected !== menu.selected);
      if (moved !== 'pressed') return moved;
    }
    return 'stuck';
  }

  /** Presses Enter on the selected option; returns `pressed` when the menu has gone. */
  async enter(): Promise<PressResult> {
    if (this.menu() === undefined) return 'gone';
    return this.#press(KEY_ENTER, (next) => next === undefined);
  }

  /** Presses Esc on the menu, which the CLI takes as a no. */
  async dismiss(): Promise<PressResult> {
    if (this.menu() === undefined) return 'gone';
    return this.#press(ESCAPE, (next) => next === undefined);
  }

  /** Presses a key again while it has no effect and the menu is still shown. */
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

  /** True when `accept` returns true for a frame before the limit has passed. */
  async #changed(accept: (menu: Menu | undefined) => boolean): Promise<boolean> {
    if (accept(this.menu())) return true;
    const seen = nextEvent(this.#target.onFrame, () => accept(this.menu())).then(() => true);
    return (await withinMs(this.#target.clock, REDRAW_LIMIT_MS, seen)) === true;
  }
}
