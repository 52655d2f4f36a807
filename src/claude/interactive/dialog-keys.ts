import { nextEvent, type Event } from '../../base/event.js';
import { withinMs, type Clock } from '../../base/clock.js';
import { readMenu, type Menu } from './menu.js';

const KEY_DOWN = '\x1b[B';
const KEY_UP = '\x1b[A';
const KEY_ENTER = '\r';
const KEY_ESCAPE = '\x1b';
/** The CLI redraws well within this after a key; a key that changed nothing by then was lost. */
const REDRAW_LIMIT_MS = 1500;
/** More keys than any menu has options: a mark that does not arrive is not chased for ever. */
const MAX_KEYS = 40;

/** The terminal as this needs it. */
export interface KeyTarget {
  readonly lines: () => { readonly lines: readonly string[]; readonly columns: number };
  readonly onFrame: Event<void>;
  readonly press: (keys: string) => void;
}

export type PressResult = 'pressed' | 'no-such-option' | 'gone' | 'stuck';

/**
 * Answers a menu as a careful person does: finds the wanted option by its words, moves the mark to it with the arrow
 * keys, sees it marked, and only then presses Enter. `isSame` says whether the menu on the screen is still the one
 * that was asked about; nothing is pressed on any other.
 */
export async function chooseOption(
  target: KeyTarget,
  clock: Clock,
  wanted: (label: string) => boolean,
  isSame: (menu: Menu) => boolean,
): Promise<PressResult> {
  for (let keys = 0; keys < MAX_KEYS; keys++) {
    const menu = currentMenu(target);
    if (menu === undefined || !isSame(menu)) return 'gone';
    const goal = menu.options.findIndex((option) => wanted(option.label));
    if (goal === -1) return 'no-such-option';
    if (menu.marked === goal) {
      target.press(KEY_ENTER);
      return (await changed(target, clock, (next) => next === undefined || !isSame(next)))
        ? 'pressed'
        : 'stuck';
    }
    target.press(goal > menu.marked ? KEY_DOWN : KEY_UP);
    if (!(await changed(target, clock, (next) => next?.marked !== menu.marked))) return 'stuck';
  }
  return 'stuck';
}

/** Esc on the menu: the CLI's own way to say no. */
export async function dismiss(
  target: KeyTarget,
  clock: Clock,
  isSame: (menu: Menu) => boolean,
): Promise<PressResult> {
  const menu = currentMenu(target);
  if (menu === undefined || !isSame(menu)) return 'gone';
  target.press(KEY_ESCAPE);
  return (await changed(target, clock, (next) => next === undefined || !isSame(next))) ? 'pressed' : 'stuck';
}

function currentMenu(target: KeyTarget): Menu | undefined {
  const { lines, columns } = target.lines();
  return readMenu(lines, columns);
}

/** Resolves true when a frame shows what `accept` waits for, false when the limit passed first. */
async function changed(
  target: KeyTarget,
  clock: Clock,
  accept: (menu: Menu | undefined) => boolean,
): Promise<boolean> {
  if (accept(currentMenu(target))) return true;
  const seen = nextEvent(target.onFrame, () => accept(currentMenu(target))).then(() => true);
  return (await withinMs(clock, REDRAW_LIMIT_MS, seen)) === true;
}
