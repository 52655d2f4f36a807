// `npm run demo-picture [-- <terminal.cast>]`: draws the fullest screen of a recording into docs/demo.svg. Without a recording
// it runs the demo and takes the demo's own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import headless from '@xterm/headless';
import { z } from 'zod';
import { screenPicture } from './docs/screen-picture.js';

const root = resolve(import.meta.dirname, '..');
const page = join(root, 'docs', 'demo.svg');
const MAX_PICTURE_BYTES = 40_000;
/** The demo removes its folder at its end; the recording is linked to a place of our own as soon as it is there. */
const LOOK_EVERY_MS = 50;

const headSchema = z.object({ width: z.int(), height: z.int() });
const eventSchema = z.tuple([z.number(), z.string(), z.string()]);

async function drawFullest(cast: string): Promise<string> {
  const [head = '', ...lines] = cast.trim().split('\n');
  const { width, height } = headSchema.parse(JSON.parse(head));
  const terminal = new headless.Terminal({ cols: width, rows: height, allowProposedApi: true });
  let fullest = { rows: 0, svg: '' };
  for (const line of lines) {
    const [, kind, text] = eventSchema.parse(JSON.parse(line));
    if (kind !== 'o') continue;
    await new Promise<void>((parsed) => terminal.write(text, parsed));
    const picture = screenPicture(terminal, 'Claude Code, in the terminal of a task that the bridge started');
    if (picture.rows >= fullest.rows) fullest = picture;
  }
  return fullest.svg;
}

async function recordDemo(folder: string): Promise<string> {
  const recording = join(folder, 'demo.cast');
  const main = join(root, 'dist', 'main.js');
  const demo = spawn(process.execPath, [main, 'demo'], {
    stdio: 'inherit',
    env: { ...process.env, TMPDIR: folder },
  });
  const looks = setInterval(() => {
    if (existsSync(recording)) return;
    const found = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((path) =>
      path.endsWith('terminal.cast'),
    );
    if (found !== undefined) linkSync(join(folder, found), recording);
  }, LOOK_EVERY_MS);
  const [code] = z
    .tuple([z.number().nullable()])
    .rest(z.unknown())
    .parse(await once(demo, 'exit'));
  clearInterval(looks);
  if (code !== 0) throw new Error(`The demo ended with ${code ?? 'a signal'}; the picture is as it was.`);
  return readFileSync(recording, 'utf8');
}

const folder = mkdtempSync(join(tmpdir(), 'ccb-'));
try {
  const [, , given] = process.argv;
  const svg = await drawFullest(given === undefined ? await recordDemo(folder) : readFileSync(given, 'utf8'));
  if (Buffer.byteLength(svg) > MAX_PICTURE_BYTES)
    throw new Error(`The picture has ${Buffer.byteLength(svg)} bytes, more than ${MAX_PICTURE_BYTES}.`);
  writeFileSync(page, svg);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
