import type { RequestKind } from '../../session.js';
import type { Menu } from '../menu.js';

/** What a dialog asks, read from the screen. */
export interface DialogReading {
  /** What the request is about; the same on each repaint, so that it is asked once. */
  readonly input: Readonly<Record<string, string>>;
  readonly summary: string;
}

export type DialogVerdict = 'allow' | 'allow_session' | 'deny';

/** One dialog of the CLI: data and two pure functions. */
export interface Dialog {
  readonly id: string;
  readonly kind: RequestKind;
  /** True for dialogs that stand before the first prompt; others are believed only while hooks are off. */
  readonly atStart: boolean;
  /** What this dialog asks, or undefined when the menu is another one. */
  readonly recognise: (menu: Menu) => DialogReading | undefined;
  /** The wanted option's words; the first option that matches is taken. Without a match Esc is pressed for `deny`. */
  readonly optionFor: Readonly<Record<DialogVerdict, RegExp>>;
}

export function defineDialog(dialog: Dialog): Dialog {
  return dialog;
}
