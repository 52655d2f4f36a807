import type { RequestKind } from '../../session.js';
import type { Menu } from '../menu.js';

/** What a dialog asks, read from the screen. */
export interface DialogReading {
  /** What the request is about; the same on each repaint, so that it is asked once. */
  readonly input: Readonly<Record<string, string>>;
  readonly summary: string;
  /** The choices of a question; the other options are the CLI's own. */
  readonly choices?: readonly { readonly label: string; readonly description: string }[];
  /** Several choices may be taken. */
  readonly isMulti?: boolean;
}

export type DialogVerdict = 'allow' | 'allow_session' | 'deny';

/** One dialog of the CLI: data and one pure function. */
export interface Dialog {
  readonly id: string;
  readonly kind: RequestKind;
  /** `start`: stands before the first prompt. `turn`: stands while a turn runs. Each is believed only then. */
  readonly when: 'start' | 'turn';
  /** What this dialog asks, or undefined when the menu is another one. */
  readonly recognise: (menu: Menu) => DialogReading | undefined;
  /** The wanted option's words; the first option that matches is taken. Without a match Esc is pressed for `deny`. */
  readonly optionFor: Readonly<Record<DialogVerdict, RegExp>>;
  /** For plans: the option that also makes the CLI accept edits by itself from then on. */
  readonly optionForEdits?: RegExp;
  /** Without a match for `allow`, Enter takes the dialog as it stands. */
  readonly enterAllows?: true;
  /** Nobody is asked: Esc is pressed, which approves nothing. */
  readonly dismissedUnasked?: true;
}

export function defineDialog(dialog: Dialog): Dialog {
  return dialog;
}
