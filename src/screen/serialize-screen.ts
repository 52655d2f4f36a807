import serialize from '@xterm/addon-serialize';
import type { IBufferCell, Terminal } from '@xterm/headless';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';

/** Private modes that the addon does not serialize: cursor visibility, mouse encodings, alternate scroll. */
const TRACKED_MODES = new Set([25, 1005, 1006, 1007, 1015, 1016]);
/** The tracked modes that are on in a fresh terminal. */
const ON_BY_DEFAULT = new Set([25, 1007]);
const SHOW_CURSOR = 25;

/** Serializes a terminal's state as bytes that bring another terminal to the same state. */
export class ScreenSerializer implements Disposable {
  readonly #terminal: Terminal;
  readonly #addon = new serialize.SerializeAddon();
  readonly #owned = new DisposableStore();
  readonly #modes = new Map<number, boolean>();
  #margins = '';
  /** The row of the upper margin, from 0. */
  #marginTop = 0;
  #cursorStyle = '';

  /** Must be created before the terminal's first byte, to track the modes that cannot be read from the terminal. */
  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    terminal.loadAddon(this.#addon);
    const { parser } = terminal;
    const note = (
      id: Parameters<typeof parser.registerCsiHandler>[0],
      take: (params: number[]) => void,
    ): void => {
      this.#owned.add(
        parser.registerCsiHandler(id, (params) => {
          take(params.flat());
          return false;
        }),
      );
    };
    note({ prefix: '?', final: 'h' }, (params) => this.#setModes(params, true));
    note({ prefix: '?', final: 'l' }, (params) => this.#setModes(params, false));
    note({ final: 'r' }, ([top = 0, bottom = 0]) => this.#setMargins(top, bottom));
    note({ intermediates: ' ', final: 'q' }, ([style = 0]) => (this.#cursorStyle = `\x1b[${style} q`));
    note({ intermediates: '!', final: 'p' }, () => this.#reset());
    this.#owned.add(
      parser.registerEscHandler({ final: 'c' }, () => {
        this.#reset();
        return false;
      }),
    );
  }

  /**
   * The bytes that bring a fresh terminal of the same size to this state: both screens, cursor, modes, and up to `scrollback` lines
   * above the screen. The program's next output may follow directly. Blank rows at the bottom lose their background color.
   */
  state(scrollback: number): string {
    const content = withPlainSecondScreen(withoutZeroMoves(this.#addon.serialize({ scrollback })));
    const modes = [...this.#modes].map(([mode, isOn]) => `\x1b[?${mode}${isOn ? 'h' : 'l'}`).join('');
    return content + this.#margins + this.#cursor() + this.#cursorStyle + modes;
  }

  /**
   * Places the cursor, because margins and origin mode move it home, and the addon moves it one column too far left in a full row.
   * Empty for a cursor after the last column, where the next character wraps: the content leaves it there.
   */
  #cursor(): string {
    const { cursorX, cursorY } = this.#terminal.buffer.active;
    const isRelative = this.#terminal.modes.originMode;
    if (cursorX >= this.#terminal.cols && this.#margins === '' && !isRelative) return '';
    return `\x1b[${cursorY - (isRelative ? this.#marginTop : 0) + 1};${cursorX + 1}H`;
  }

  /**
   * The bytes that draw the screen into the upper left of a terminal of any size and place the cursor. A larger screen is cut to the
   * left columns and the rows down to the last one in use. Also sets the modes for keys.
   */
  picture(size: { readonly columns: number; readonly rows: number }): string {
    const { active } = this.#terminal.buffer;
    const columns = Math.min(size.columns, this.#terminal.cols);
    const first = Math.max(0, this.#lastRowInUse() - size.rows + 1);
    const cell = active.getNullCell();
    let text = '';
    for (let row = 0; row < size.rows; row++) {
      const line = active.getLine(active.baseY + first + row);
      text += `\x1b[${row + 1};1H\x1b[0m`;
      if (line !== undefined && first + row < this.#terminal.rows) {
        let style = '';
        for (let column = 0; column < columns; column++) {
          const found = line.getCell(column, cell);
          if (found === undefined) break;
          const width = found.getWidth();
          if (width === 0) continue;
          const wanted = styleOf(found);
          if (wanted !== style) text += `\x1b[0${wanted}m`;
          style = wanted;
          // Half of a wide character at the edge would wrap.
          text += column + width > columns ? ' ' : found.getChars() || ' ';
        }
        text += '\x1b[0m';
      }
      // After the last column the cursor is still on its character, which erasing would remove.
      if (columns < size.columns || line === undefined) text += '\x1b[K';
    }
    const row = Math.min(size.rows, Math.max(1, active.cursorY - first + 1));
    const column = Math.min(size.columns, active.cursorX + 1);
    const isShown = this.#modes.get(SHOW_CURSOR) ?? true;
    const { applicationCursorKeysMode, bracketedPasteMode } = this.#terminal.modes;
    const keys = `\x1b[?1${applicationCursorKeysMode ? 'h' : 'l'}\x1b[?2004${bracketedPasteMode ? 'h' : 'l'}`;
    return `${text}\x1b[${row};${column}H\x1b[?25${isShown ? 'h' : 'l'}${keys}`;
  }

  dispose(): void {
    this.#owned.dispose();
  }

  #lastRowInUse(): number {
    const { active } = this.#terminal.buffer;
    for (let row = this.#terminal.rows - 1; row > active.cursorY; row--) {
      if ((active.getLine(active.baseY + row)?.translateToString(true) ?? '') !== '') return row;
    }
    return active.cursorY;
  }

  #setModes(modes: readonly number[], isOn: boolean): void {
    for (const mode of modes) {
      if (!TRACKED_MODES.has(mode)) continue;
      if (isOn === ON_BY_DEFAULT.has(mode)) this.#modes.delete(mode);
      else this.#modes.set(mode, isOn);
    }
  }

  #setMargins(top: number, bottom: number): void {
    const isWhole = top <= 1 && (bottom === 0 || bottom >= this.#terminal.rows);
    this.#margins = isWhole ? '' : `\x1b[${Math.max(1, top)};${bottom === 0 ? '' : bottom}r`;
    this.#marginTop = isWhole ? 0 : Math.max(1, top) - 1;
  }

  #reset(): void {
    this.#modes.clear();
    this.#margins = '';
    this.#marginTop = 0;
    this.#cursorStyle = '';
  }
}

/**
 * For a blank row that wraps (a line was inserted into a wrapped one) the addon writes cursor moves by 0 columns, which a terminal
 * takes as 1 (ECMA-48, CUF and CUB).
 */
function withoutZeroMoves(text: string): string {
  return text.replaceAll('\x1b[0C', '').replaceAll('\x1b[0D', '');
}

/** The addon writes the second screen as if no style were set, but has set the current one behind the first screen. */
function withPlainSecondScreen(text: string): string {
  return text.replace('\x1b[?1049h\x1b[H', '\x1b[?1049h\x1b[0m\x1b[H');
}

/** The SGR parameters after `0` for the style of a cell. */
function styleOf(cell: IBufferCell): string {
  if (cell.isAttributeDefault()) return '';
  let style = '';
  if (cell.isBold() !== 0) style += ';1';
  if (cell.isDim() !== 0) style += ';2';
  if (cell.isItalic() !== 0) style += ';3';
  if (cell.isUnderline() !== 0) style += ';4';
  if (cell.isBlink() !== 0) style += ';5';
  if (cell.isInverse() !== 0) style += ';7';
  if (cell.isInvisible() !== 0) style += ';8';
  if (cell.isStrikethrough() !== 0) style += ';9';
  if (cell.isOverline() !== 0) style += ';53';
  if (cell.isFgRGB()) style += `;38;2;${rgb(cell.getFgColor())}`;
  else if (cell.isFgPalette()) style += `;38;5;${cell.getFgColor()}`;
  if (cell.isBgRGB()) style += `;48;2;${rgb(cell.getBgColor())}`;
  else if (cell.isBgPalette()) style += `;48;5;${cell.getBgColor()}`;
  return style;
}

function rgb(colour: number): string {
  return `${colour >> 16};${(colour >> 8) & 0xff};${colour & 0xff}`;
}
