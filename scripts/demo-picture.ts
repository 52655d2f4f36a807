// `npm run demo-picture`: runs the demo and draws what its chat does (a task, its questions and answers, its receipt) into docs/demo.svg.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { withTempFolder } from '../src/base/files/folders.js';

const root = resolve(import.meta.dirname, '..');
const TITLE =
  'A chat delegates a task: Claude Code asks whether it may run the test, is allowed to, and the receipt shows what it did';
const COLUMNS = 100;
const MAX_PICTURE_BYTES = 40_000;
const FONT_PX = 14;
const CELL_PX = 8.4;
const LINE_PX = 18;
const MARGIN_PX = 14;

/** What a line is, and its colour: a call of the chat, a question of Claude Code, a line of the patch. */
const colours = [
  [/^> /, '#29b8db'],
  [/Claude Code asks: /, '#e5e510'],
  [/^ {2}\+/, '#23d18b'],
  [/^ {2}-/, '#f14c4c'],
] as const;

/** The rows of one line in a terminal of 100 columns, as text of an SVG that needs no script and no font of its own. */
function rowsOf(line: string): { readonly text: string; readonly colour: string | undefined }[] {
  const colour = colours.find(([mark]) => mark.test(line))?.[1];
  const rows = line.match(new RegExp(`.{1,${COLUMNS}}`, 'gu')) ?? [''];
  return rows.map((text) => ({ text, colour }));
}

function drawn({ text, colour }: ReturnType<typeof rowsOf>[number], row: number): string {
  const shown = text.trim();
  if (shown === '') return '';
  const x = rounded(MARGIN_PX + (text.length - text.trimStart().length) * CELL_PX);
  const y = MARGIN_PX + row * LINE_PX + FONT_PX;
  const fill = colour === undefined ? '' : ` fill="${colour}"`;
  return `<text x="${x}" y="${y}" textLength="${rounded(shown.length * CELL_PX)}" lengthAdjust="spacingAndGlyphs" xml:space="preserve"${fill}>${escaped(shown)}</text>\n`;
}

function rounded(px: number): string {
  return String(Math.round(px * 10) / 10);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const { stdout: said } = await withTempFolder('ccb-', (TMPDIR) =>
  promisify(execFile)(process.execPath, [join(root, 'dist', 'main.js'), 'demo'], {
    env: { ...process.env, TMPDIR },
  }),
);
const rows = said
  .slice(said.indexOf('> start_task'), said.lastIndexOf('\nServer stopped'))
  .replaceAll(/\S+\/shop-math/g, '~/Projects/shop-math')
  .trimEnd()
  .split('\n')
  .flatMap(rowsOf);
const width = Math.ceil(COLUMNS * CELL_PX + 2 * MARGIN_PX);
const height = rows.length * LINE_PX + 2 * MARGIN_PX;
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(TITLE)}</title>
<rect width="100%" height="100%" rx="8" fill="#1e1e1e"/>
<g font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${FONT_PX}" fill="#d4d4d4">
${rows.map(drawn).join('')}</g>
</svg>
`;
if (Buffer.byteLength(svg) > MAX_PICTURE_BYTES)
  throw new Error(`The picture has ${Buffer.byteLength(svg)} bytes, more than ${MAX_PICTURE_BYTES}.`);
writeFileSync(join(root, 'docs', 'demo.svg'), svg);
