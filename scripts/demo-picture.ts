// `npm run demo-picture`: runs the demo and draws what its chat does (a task, its questions and answers, its receipt) into docs/demo.svg.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { styleText } from 'node:util';
import headless from '@xterm/headless';
import { screenPicture } from './docs/screen-picture.js';

const root = resolve(import.meta.dirname, '..');
const TITLE =
  'A chat delegates a task: Claude Code asks whether it may run the test, is allowed to, and the receipt shows what it did';
const COLUMNS = 100;
const MAX_PICTURE_BYTES = 40_000;

/** What a line is: a call of the chat, a question of Claude Code, a line of the patch. */
const styles = [
  [/^> /, 'cyan'],
  [/Claude Code asks: /, 'yellow'],
  [/^ {2}\+/, 'green'],
  [/^ {2}-/, 'red'],
] as const;

const folder = mkdtempSync(join(tmpdir(), 'ccb-'));
try {
  const env = { ...process.env, TMPDIR: folder };
  const said = execFileSync(process.execPath, [join(root, 'dist', 'main.js'), 'demo'], {
    env,
    encoding: 'utf8',
  });
  const lines = said
    .slice(said.indexOf('> start_task'), said.lastIndexOf('\nServer stopped'))
    .replaceAll(/\S+\/shop-math/g, '~/Projects/shop-math')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const style = styles.find(([mark]) => mark.test(line))?.[1];
      return style === undefined ? line : styleText(style, line, { validateStream: false });
    });
  const terminal = new headless.Terminal({ cols: COLUMNS, rows: lines.length, allowProposedApi: true });
  await new Promise<void>((parsed) => terminal.write(lines.join('\r\n'), parsed));
  const { svg } = screenPicture(terminal, TITLE);
  if (Buffer.byteLength(svg) > MAX_PICTURE_BYTES)
    throw new Error(`The picture has ${Buffer.byteLength(svg)} bytes, more than ${MAX_PICTURE_BYTES}.`);
  writeFileSync(join(root, 'docs', 'demo.svg'), svg);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
