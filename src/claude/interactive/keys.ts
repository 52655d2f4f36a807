// Pure: the keys that the bridge presses in a session of Claude Code.
import { sleep, withinMs, type Clock } from '../../base/clock.js';
import { nextEvent, type Event } from '../../base/lifecycle.js';
import type { SessionEvent } from '../session.js';
import { readMenu, type Menu } from './menu.js';

/** What a terminal sends for the keys that the bridge presses. */
export const KEYS = {
  Esc: '\x1b',
  Up: '\x1b[A',
  Down: '\x1b[B',
  Enter: '\r',
  'Ctrl-C': '\x03',
  'Ctrl-U': '\x15',
} as const;

/** A dialog that a hook answered closes well within this time; until then a key would reach it. */
const CLOSING_MS = 1_000;

/** What presses keys in a session of Claude Code. */
export type KeyGate = ReturnType<typeof keyGate>;

/**
 * All keys that the bridge presses in a session of Claude Code go through here. It presses none while a request of a hook is open,
 * because any program of the agent can paint another screen over its dialog. A person's keys do not pass through here. `write` is false
 * when the program accepts no more keys.
 */
export function keyGate(
  clock: Clock,
  requests: { readonly isWaiting: boolean; readonly onDidClose: Event<void> },
  write: (keys: string) => boolean,
  fire: (event: SessionEvent) => void,
) {
  let closedAtMs = -Infinity;
  requests.onDidClose(() => (closedAtMs = clock.monotonicMs()));
  const closingMs = (): number => closedAtMs + CLOSING_MS - clock.monotonicMs();
  return {
    /** Presses one key or pastes one text. Presses nothing and returns false while a request, or perhaps its dialog, is open. */
    press: (keys: string, why: string): boolean => {
      // Esc approves nothing, so it is harmless on a closing dialog.
      if (requests.isWaiting || (keys !== KEYS.Esc && closingMs() > 0)) return false;
      if (!write(keys)) return false;
      const [name = 'text'] = Object.entries(KEYS).find(([, sent]) => sent === keys) ?? [];
      fire({ type: 'keys', keys: name, why });
      return true;
    },
    /** Resolves when keys can be pressed; never while a request stays open. */
    whenOpen: async (): Promise<void> => {
      while (requests.isWaiting || closingMs() > 0) {
        if (requests.isWaiting) await nextEvent(requests.onDidClose);
        else await sleep(clock, closingMs());
      }
    },
  };
}

/** The CLI redraws well within this time after a key; a key without effect by then was lost. */
const REDRAW_LIMIT_MS = 1500;
/** How often lost keys are pressed again. */
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

export interface Choice {
  /** Whether the menu on the screen is still the one to answer; no key is pressed on another. */
  readonly isSame: (menu: Menu) => boolean;
  /** The label to choose; undefined presses Esc. */
  readonly label: RegExp | undefined;
  /** The purpose of the keys, for the journal. */
  readonly why: string;
}

/** `held`: the next key was not pressed because a hook's request is open. */
export type PressResult = 'pressed' | 'no-such-option' | 'gone' | 'stuck' | 'held';

/**
 * Selects the option, checks that it is selected, and presses Enter; `pressed` when the menu has gone. The screen is checked before
 * each key, and its effect before the next.
 */
export async function chooseOption(target: KeyTarget, { isSame, label, why }: Choice): Promise<PressResult> {
  const shown = (): Menu | undefined => {
    const { lines, columns } = target.screen();
    const menu = readMenu(lines, columns);
    return menu !== undefined && isSame(menu) ? menu : undefined;
  };
  let lost = 0;
  for (let moves = 0; moves < MAX_MOVES && lost <= MAX_LOST_KEYS; moves++) {
    const menu = shown();
    if (menu === undefined) return 'gone';
    const goal = label === undefined ? menu.selected : menu.options.findIndex((option) => label.test(option));
    if (goal === -1) return 'no-such-option';
    const isLast = goal === menu.selected;
    const move = goal > menu.selected ? KEYS.Down : KEYS.Up;
    if (!target.press(isLast ? (label === undefined ? KEYS.Esc : KEYS.Enter) : move, why)) return 'held';
    const isTaken = (): boolean => (isLast ? shown() === undefined : shown()?.selected !== menu.selected);
    if (!(await untilFrame(target, REDRAW_LIMIT_MS, isTaken))) lost++;
    else if (isLast) return 'pressed';
  }
  return 'stuck';
}

/** True when `isTrue` becomes true with a frame before the limit has passed. */
export async function untilFrame(
  { clock, onFrame }: Pick<KeyTarget, 'clock' | 'onFrame'>,
  limitMs: number,
  isTrue: () => boolean,
): Promise<boolean> {
  if (isTrue()) return true;
  return (
    (await withinMs(
      clock,
      limitMs,
      nextEvent(onFrame, isTrue).then(() => true),
    )) === true
  );
}
