import { withinMs } from '../../base/clock.js';
import { withoutControl, withoutUnseen } from '../../base/text.js';
import type { SendResult } from '../session.js';
import { KEYS, untilFrame, type KeyTarget } from './keys.js';
import {
  asksToStopTasks,
  composerRow,
  isComposerEmpty,
  readScreenState,
  type ScreenLines,
} from './screen-state.js';

/** When the box is not shown by then, something covers it. */
const READY_LIMIT_MS = 5_000;
const CLEAR_LIMIT_MS = 1_500;
/** Claude Code reports a prompt before it does anything else with it: ten times what that takes on a busy machine. */
const ARRIVAL_LIMIT_MS = 10_000;
/** A text that is still in the box after this was not sent by Enter. */
const SENT_LIMIT_MS = 10_000;
const LEAVE_LIMIT_MS = 5_000;
/** Ctrl-U clears one line; a box has fewer lines than two screens. */
const MAX_CLEARED_LINES = 80;
const PASTE_START = '\x1b[200~';
const PASTE_END = '\x1b[201~';
/** Ends the session as a person would (2.1.330, 2.1.332). */
const LEAVE = '/exit';

/** How Claude Code frames a long text that was pasted (2.1.330, 2.1.332). */
const PASTED = /^\s*<pasted_content[^>]*>\n([^]*)\n<\/pasted_content[^>]*>\s*$/;
/** Of pictures a terminal holds the joiners and the selectors of their form. */
const DROPPED = /(?!\s|\u200d|\ufe0f)[\p{C}\p{Default_Ignorable_Code_Point}]/gu;
/** How the prompt begins by which Claude Code tells the agent of the end of a program in the background (2.1.330, 2.1.332). */
const OWN_PROMPT = '<task-notification>';

/** A message on its way: `arrived` resolves when Claude Code has reported it as a prompt. */
export interface Typed {
  readonly text: string;
  readonly arrived: Promise<void>;
  /** Enter is about to be pressed. */
  readonly entered: () => void;
}

/** The terminal, as far as the composer needs it. */
export interface ComposerTarget extends KeyTarget {
  readonly screen: () => ScreenLines;
  readonly whenOpen: () => Promise<void>;
  readonly isGone: () => boolean;
  readonly exited: Promise<unknown>;
}

/** The input box of the CLI. Keys are pressed only while it is on the screen. */
export class Composer {
  readonly #target: ComposerTarget;

  constructor(target: ComposerTarget) {
    this.#target = target;
  }

  /** Types a message, checks that it is in the box, and presses Enter. It is sent when it has arrived. */
  async send({ text, arrived, entered }: Typed): Promise<SendResult> {
    const refused = await this.#enter(text, 'a message', entered);
    if (refused !== undefined) return refused;
    const sent = arrived.then(() => 'sent' as const);
    const left = this.#target.exited.then(() => 'left' as const);
    const isTaken = this.#until(() => isComposerEmpty(this.#target.screen()), SENT_LIMIT_MS);
    const first = await Promise.race([sent, left, isTaken]);
    if (typeof first === 'string') return first;
    if (!first) {
      await this.#clear('a message that Enter did not send');
      return 'kept';
    }
    return (await withinMs(this.#target.clock, ARRIVAL_LIMIT_MS, Promise.race([sent, left]))) ?? 'command';
  }

  /** Ends the session as a person would; false when it still runs. */
  async leave(): Promise<boolean> {
    const why = 'the work is done';
    const { clock, exited, screen, isGone, press } = this.#target;
    if ((await this.#enter(LEAVE, why)) !== undefined) return isGone();
    const left = exited.then(() => true);
    const isAsked = this.#until(() => asksToStopTasks(screen()), LEAVE_LIMIT_MS).then(() => false);
    if (await Promise.race([left, isAsked])) return true;
    if (isGone() || !asksToStopTasks(screen()) || !press(KEYS.Enter, why)) return isGone();
    return (await withinMs(clock, LEAVE_LIMIT_MS, left)) === true;
  }

  /** Pastes the text into the empty box and presses Enter there; else says why not. */
  async #enter(text: string, why: string, entered?: () => void): Promise<'asked' | 'covered' | undefined> {
    const open = Promise.race([this.#target.whenOpen(), this.#target.exited]).then(() => true);
    if ((await withinMs(this.#target.clock, READY_LIMIT_MS, open)) !== true) return 'asked';
    if (!(await this.#clear(why))) return 'covered';
    if (!this.#target.press(`${PASTE_START}${asTyped(text)}${PASTE_END}`, why)) return 'asked';
    await this.#until(() => !isComposerEmpty(this.#target.screen()), READY_LIMIT_MS);
    // Anywhere else Enter would confirm the selected option.
    if (composerRow(this.#target.screen()) === undefined) return 'covered';
    entered?.();
    return this.#target.press(KEYS.Enter, why) ? undefined : 'asked';
  }

  /** Clears text in the box, such as an interrupted prompt. True when the box is shown and empty. */
  async #clear(why: string): Promise<boolean> {
    await this.#until(() => composerRow(this.#target.screen()) !== undefined, READY_LIMIT_MS);
    const isEmpty = (): boolean => isComposerEmpty(this.#target.screen());
    if (this.#target.isGone() || isEmpty()) return true;
    if (composerRow(this.#target.screen()) === undefined) return false;
    if (readScreenState(this.#target.screen()) === 'idle') {
      // Clears all lines together; during a turn it would interrupt.
      return this.#target.press(KEYS['Ctrl-C'], why) && this.#until(isEmpty, CLEAR_LIMIT_MS);
    }
    for (let lines = 0; lines < MAX_CLEARED_LINES && !isEmpty(); lines++) {
      const before = JSON.stringify(this.#target.screen().cursor);
      if (!this.#target.press(KEYS['Ctrl-U'], why)) break;
      if (!(await this.#until(() => JSON.stringify(this.#target.screen().cursor) !== before, CLEAR_LIMIT_MS)))
        break;
    }
    return isEmpty();
  }

  #until(isTrue: () => boolean, limitMs: number): Promise<boolean> {
    return untilFrame(this.#target, limitMs, () => this.#target.isGone() || isTrue());
  }
}

/**
 * What is typed for a text: no escapes, which would act as keys and end the paste, and nothing that the terminal drops, which may keep
 * Enter from sending it (2.1.332). After a blank, `!` does not change the mode of the box; with a blank at the end, no list of names is
 * open (`@`), and no `\\` turns Enter into a new line.
 */
function asTyped(text: string): string {
  const seen = withoutControl(text.replaceAll('\r\n', '\n'))
    .replace(DROPPED, '')
    .replace(/^(?:\s|\u200d|\ufe0f)+/u, '');
  return `${seen.startsWith('!') ? ' ' : ''}${seen} `;
}

/**
 * `exact`: the prompt is the text, but for white space at its end, which Claude Code does not pass on. `changed`: it is what became of the
 * text, such as another normal form, or `[Image #1]` for the path of one. `isSole`: no person has typed meanwhile, so that nothing else
 * than the text can have become a prompt, unless Claude Code speaks.
 */
export function arrivalOf(prompt: string, text: string, isSole: boolean): 'exact' | 'changed' | 'other' {
  if ((PASTED.exec(prompt)?.[1] ?? prompt).trimEnd() === text.trimEnd()) return 'exact';
  if (isSole && !prompt.startsWith(OWN_PROMPT)) return 'changed';
  return bare(prompt).includes(bare(text)) ? 'changed' : 'other';
}

function bare(text: string): string {
  return withoutUnseen(text).normalize('NFC').replace(/\s/g, '');
}
