import type { Terminal } from '@xterm/xterm';

const MIN_COLUMNS = 60;
const MIN_ROWS = 16;
const MAX_COLUMNS = 300;
const MAX_ROWS = 120;
/** Of the place, on both sides together. */
const PADDING = 16;
const SCROLL_BAR = 14;
const FALLBACK_CELL = { width: 8, height: 16 };

/** The size in which a terminal fills its place; not so small that dialogs are cut off. */
export function fitted(terminal: Terminal, place: HTMLElement): { columns: number; rows: number } {
  const screen = place.querySelector('.xterm-screen');
  const box = screen?.getBoundingClientRect();
  const cell =
    box === undefined || box.width === 0
      ? FALLBACK_CELL
      : { width: box.width / terminal.cols, height: box.height / terminal.rows };
  const clamp = (value: number, min: number, max: number): number =>
    Math.min(max, Math.max(min, Math.floor(value)));
  return {
    columns: clamp((place.clientWidth - PADDING - SCROLL_BAR) / cell.width, MIN_COLUMNS, MAX_COLUMNS),
    rows: clamp((place.clientHeight - PADDING) / cell.height, MIN_ROWS, MAX_ROWS),
  };
}
