import type { RequestKind } from '../../session.js';
import type { Menu } from '../menu.js';

/** The content of a dialog, read from the screen. */
export interface DialogReading {
  /** Identifies the request; the same on each repaint, so that it is asked once. */
  readonly input: Readonly<Record<string, string>>;
  readonly summary: string;
}

type DialogVerdict = 'allow' | 'allow_session' | 'deny';

/** One dialog of the CLI, described by data and one pure function. */
export interface Dialog {
  readonly id: string;
  readonly kind: RequestKind;
  /** `start`: shown before the first prompt. `turn`: shown during a turn. At other times the dialog is not trusted. */
  readonly when: 'start' | 'turn';
  /** Undefined when the menu is another dialog. */
  readonly recognise: (menu: Menu) => DialogReading | undefined;
  /** The label of the option for each verdict; the first match is chosen. Without a match, Esc is pressed for `deny`. */
  readonly optionFor: Readonly<Record<DialogVerdict, RegExp>>;
  /** For plans: the option that also makes the CLI accept later edits automatically. */
  readonly optionForEdits?: RegExp;
  /** Esc is pressed without a request to the caller; it approves nothing. */
  readonly dismissedUnasked?: true;
}

export function defineDialog(dialog: Dialog): Dialog {
  return dialog;
}
