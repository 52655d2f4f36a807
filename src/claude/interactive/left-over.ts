// Pure: a dialog that still stands although a hook has answered it.
import type { SessionAllowance } from '../session.js';
import type { Menu } from './menu.js';

/** A dialog that a hook has answered goes by itself well within this; longer, and it gets its answer by keys. */
const STAYS_MS = 1_000;
/** A dialog that comes later than this after the answer is another one. */
const FORGOTTEN_MS = 10_000;
/** One that stands this long and shows something else than what was answered is asked about. */
const ASKED_AGAIN_MS = 3_000;

export interface LeftOver {
  readonly dialogId: string;
  readonly answer: SessionAllowance;
  /** When it was answered, on the monotonic clock. */
  readonly sinceMs: number;
}

/** `wait`: look again in `ms`. `ask`: nobody has answered what stands there. `none`: it has nothing to do with the answer. */
export type LeftOverStep =
  | { readonly step: 'wait'; readonly ms: number }
  | { readonly step: 'press' }
  | { readonly step: 'ask' }
  | { readonly step: 'none' };

/** What to do about the dialog that stands there since `standsMs`. */
export function leftOverStep(
  { answer, sinceMs }: LeftOver,
  menu: Menu,
  nowMs: number,
  standsMs: number,
): LeftOverStep {
  const passedMs = nowMs - sinceMs;
  if (passedMs > FORGOTTEN_MS) return { step: 'none' };
  if (passedMs < STAYS_MS) return { step: 'wait', ms: STAYS_MS - passedMs };
  if (answer.input === undefined || shows(menu, answer.input)) return { step: 'press' };
  return standsMs < ASKED_AGAIN_MS ? { step: 'wait', ms: ASKED_AGAIN_MS - standsMs } : { step: 'ask' };
}

/**
 * The dialog asks about exactly this command: where a rule says that the CLI is to ask, it asks once more about a command
 * that a hook's answer has changed, and no hook tells (seen in 2.1.330). Of other tools it is not known how they are drawn.
 */
function shows({ heading, framed }: Menu, input: Readonly<Record<string, unknown>>): boolean {
  const { command, description = '' } = input;
  if (heading[0] !== 'Bash command' || typeof command !== 'string' || typeof description !== 'string')
    return false;
  const shown = compact((framed.length > 0 ? framed : heading.slice(1, -1)).join(''));
  return shown === compact(command) || shown === compact(command + description);
}

/** Without blanks: long lines are broken to fit the screen. */
function compact(text: string): string {
  return text.replace(/\s+/g, '');
}
