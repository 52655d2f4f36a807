import { Emitter } from '../../../src/base/lifecycle.js';
import type { KeyTarget } from '../../../src/claude/interactive/keys.js';

const COLUMNS = 120;
const ROWS = 40;
export const KEY_NAMES: Readonly<Record<string, string>> = {
  '\x1b[A': 'up',
  '\x1b[B': 'down',
  '\r': 'enter',
  '\x1b': 'escape',
  ' ': 'space',
};

/** What stands on the screen. */
export interface ScriptedDialog {
  readonly heading: readonly string[];
  readonly options: readonly string[];
  readonly footer?: string;
}

/** A terminal that shows one menu as the CLI draws it, and takes keys as the CLI does. */
export class ScriptedMenu implements Omit<KeyTarget, 'clock'> {
  readonly #frames = new Emitter<void>();
  readonly onFrame = this.#frames.event;
  readonly keys: string[] = [];
  /** Keys that are lost before the next one is taken. */
  lose = 0;
  /** A request of a hook is open: keys are refused. */
  isHeld = false;
  /** What the keys were pressed for. */
  readonly whys = new Set<string>();
  /** What the screen shows after Enter or Esc; nothing by default. */
  after: ScriptedDialog | undefined;
  selected = 0;
  #dialog: ScriptedDialog | undefined;

  constructor(dialog?: ScriptedDialog) {
    this.#dialog = dialog;
  }

  get shown(): ScriptedDialog | undefined {
    return this.#dialog;
  }

  /** Draws another screen, or nothing. */
  show(dialog: ScriptedDialog | undefined): void {
    this.#dialog = dialog;
    this.selected = 0;
    this.#frames.fire();
  }

  repaint(): void {
    this.#frames.fire();
  }

  screen = (): { lines: readonly string[]; columns: number } => {
    const drawn = this.#dialog === undefined ? ['', '● Working on it.'] : this.#draw(this.#dialog);
    return { lines: [...drawn, ...Array<string>(ROWS - drawn.length).fill('')], columns: COLUMNS };
  };

  press = (keys: string, why: string): boolean => {
    if (this.isHeld) return false;
    this.whys.add(why);
    this.keys.push(KEY_NAMES[keys] ?? keys);
    this.#take(keys);
    return true;
  };

  #take(keys: string): void {
    if (this.lose > 0) {
      this.lose--;
      return;
    }
    const last = (this.#dialog?.options.length ?? 0) - 1;
    if (keys === '\x1b[B') this.selected = Math.min(last, this.selected + 1);
    else if (keys === '\x1b[A') this.selected = Math.max(0, this.selected - 1);
    else if (keys === '\r' || keys === '\x1b') return this.show(this.after);
    else return;
    this.#frames.fire();
  }

  #draw({ heading, options, footer = ' Esc to cancel' }: ScriptedDialog): string[] {
    const drawn = options.map(
      (option, index) => ` ${index === this.selected ? '❯' : ' '} ${index + 1}. ${option}`,
    );
    return ['─'.repeat(COLUMNS), ...heading.map((line) => ` ${line}`), ...drawn, '', footer];
  }
}

export const runCommand: ScriptedDialog = {
  heading: ['Bash command', '', '  touch a.txt', '  Make a file', '', 'Do you want to proceed?'],
  options: ['Yes', 'Yes, and always allow access to proj/ from this project', 'No'],
};

export const trustFolder: ScriptedDialog = {
  heading: ['Accessing workspace:', '', '/home/anybody/proj', ''],
  options: ['Yes, I trust this folder', 'No, exit'],
};
