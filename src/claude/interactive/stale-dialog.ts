// Pure: decides what to do about a dialog that stays open although a hook answered it.
import type { SessionAllowance } from '../session.js';
import type { Menu } from './menu.js';

/** A dialog that a hook answered closes well within this time; if it stays longer, it is answered by keys. */
const STAYS_MS = 1_000;
/** A dialog that appears later than this after the answer is another one. */
const FORGOTTEN_MS = 10_000;
/** A dialog that stays this long and shows something else than what was answered becomes a new request. */
const ASKED_AGAIN_MS = 3_000;

export interface StaleDialog {
  readonly dialogId: string;
  readonly answer: SessionAllowance;
  /** Monotonic time of the answer. */
  readonly sinceMs: number;
}

/** `wait`: check again in `ms`. `ask`: the dialog shows something that was not answered. `none`: the answer was for another dialog. */
export type StaleDialogStep =
  | { readonly step: 'wait'; readonly ms: number }
  | { readonly step: 'press' }
  | { readonly step: 'ask' }
  | { readonly step: 'none' };

/** What to do about the dialog that has been shown for `shownMs`. */
export function staleDialogStep(
  { answer, sinceMs }: StaleDialog,
  menu: Menu,
  nowMs: number,
  shownMs: number,
): StaleDialogStep {
  const passedMs = nowMs - sinceMs;
  if (passedMs > FORGOTTEN_MS) return { step: 'none' };
  if (passedMs < STAYS_MS) return { step: 'wait', ms: STAYS_MS - passedMs };
  if (answer.input === undefined || shows(menu, answer.input)) return { step: 'press' };
  return shownMs < ASKED_AGAIN_MS ? { step: 'wait', ms: ASKED_AGAIN_MS - shownMs } : { step: 'ask' };
}

/**
 * True when the dialog asks about exactly this command. If a rule makes the CLI ask, it asks once more about a command that a hook's
 * answer changed, without another hook (seen in 2.1.330). Dialogs of other tools are not compared.
 */
function shows({ heading, framed }: Menu, input: Readonly<Record<string, unknown>>): boolean {
  const { command, description = '' } = input;
  if (heading[0] !== 'Bash command' || typeof command !== 'string' || typeof description !== 'string')
    return false;
  const shown = compact((framed.length > 0 ? framed : heading.slice(1, -1)).join(''));
  return shown === compact(command) || shown === compact(command + description);
}

/** Removes blanks, because long lines are wrapped at unknown places. */
function compact(text: string): string {
  return text.replace(/\s+/g, '');
}
