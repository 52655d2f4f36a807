// Pure: a terminal's screen → an SVG that needs no script and no font of its own.
import type { IBufferCell, Terminal } from '@xterm/headless';

const FONT_PX = 14;
const CELL_PX = 8.4;
const LINE_PX = 18;
const MARGIN_PX = 14;
const BACKGROUND = '#1e1e1e';
const FOREGROUND = '#d4d4d4';
/** The sixteen named colours of a dark terminal. */
const NAMED =
  '#1e1e1e #f14c4c #23d18b #e5e510 #3b8eea #d670d6 #29b8db #cccccc #7f7f7f #f14c4c #23d18b #f5f543 #3b8eea #d670d6 #29b8db #ffffff'.split(
    ' ',
  );
const CUBE_STEPS = [0, 95, 135, 175, 215, 255];
const FIRST_CUBE = 16;
const FIRST_GREY = 232;

interface Run {
  readonly column: number;
  readonly style: string;
  readonly fill: string | undefined;
  text: string;
  columns: number;
}

/** The rows of the screen down to the last one with text, and how many of them have text. */
export function screenPicture(
  terminal: Terminal,
  title: string,
): { readonly rows: number; readonly svg: string } {
  const buffer = terminal.buffer.active;
  const lines = Array.from({ length: terminal.rows }, (_, row) => runsOf(terminal, buffer.viewportY + row));
  const isBlank = (runs: readonly Run[]): boolean => runs.every((run) => run.text.trim() === '');
  const first = Math.max(
    0,
    lines.findIndex((runs) => !isBlank(runs)),
  );
  const shown = lines.slice(first, lines.findLastIndex((runs) => !isBlank(runs)) + 1);
  const width = Math.ceil(terminal.cols * CELL_PX + 2 * MARGIN_PX);
  const height = shown.length * LINE_PX + 2 * MARGIN_PX;
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>`,
    `<g font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${FONT_PX}" fill="${FOREGROUND}">`,
    ...shown.flatMap((runs, row) => runs.map((run) => drawn(run, row))),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
  return { rows: lines.filter((runs) => !isBlank(runs)).length, svg };
}

function runsOf(terminal: Terminal, row: number): Run[] {
  const line = terminal.buffer.active.getLine(row);
  const runs: Run[] = [];
  for (let column = 0; column < terminal.cols; column++) {
    const cell = line?.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const look = lookOf(cell);
    const last = runs.at(-1);
    const text = cell.getChars() || ' ';
    if (last !== undefined && last.style === look.style && last.fill === look.fill) {
      last.text += text;
      last.columns += cell.getWidth();
    } else runs.push({ ...look, column, text, columns: cell.getWidth() });
  }
  return runs.filter((run) => run.fill !== undefined || run.text.trim() !== '');
}

function lookOf(cell: IBufferCell): Pick<Run, 'style' | 'fill'> {
  let text = cell.isFgDefault() ? undefined : colour(cell.isFgRGB(), cell.getFgColor());
  let fill = cell.isBgDefault() ? undefined : colour(cell.isBgRGB(), cell.getBgColor());
  if (cell.isInverse()) [text, fill] = [fill ?? BACKGROUND, text ?? FOREGROUND];
  const parts = [
    text === undefined ? '' : ` fill="${text}"`,
    cell.isBold() ? ' font-weight="bold"' : '',
    cell.isItalic() ? ' font-style="italic"' : '',
    cell.isDim() ? ' opacity="0.6"' : '',
  ];
  return { style: parts.join(''), fill };
}

function colour(isRgb: boolean, value: number): string {
  if (isRgb) return `#${value.toString(16).padStart(6, '0')}`;
  if (value < FIRST_CUBE) return NAMED[value] ?? FOREGROUND;
  if (value >= FIRST_GREY) return rgb([0, 0, 0].map(() => 8 + 10 * (value - FIRST_GREY)));
  const place = value - FIRST_CUBE;
  const steps = [Math.floor(place / 36), Math.floor(place / 6) % 6, place % 6];
  return rgb(steps.map((step) => CUBE_STEPS[step] ?? 0));
}

function rgb(parts: readonly number[]): string {
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

function drawn(run: Run, row: number): string {
  const x = rounded(MARGIN_PX + run.column * CELL_PX);
  const top = MARGIN_PX + row * LINE_PX;
  const width = rounded(run.columns * CELL_PX);
  const back =
    run.fill === undefined
      ? ''
      : `<rect x="${x}" y="${top}" width="${width}" height="${LINE_PX}" fill="${run.fill}"/>`;
  if (run.text.trim() === '') return back;
  const blanks = run.text.length - run.text.trimStart().length;
  const text = run.text.trim();
  const from = rounded(MARGIN_PX + (run.column + blanks) * CELL_PX);
  const length = rounded((run.columns - (run.text.length - text.length)) * CELL_PX);
  return `${back}<text x="${from}" y="${top + FONT_PX}" textLength="${length}" lengthAdjust="spacingAndGlyphs" xml:space="preserve"${run.style}>${escaped(text)}</text>`;
}

function rounded(px: number): string {
  return String(Math.round(px * 10) / 10);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
