import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Page } from 'playwright-core';
import { figuresOf, type Figures } from './figures.js';

/** 50 MB of them. */
const FRAMES = 45_000;
/** The time between two events of the recording; each is a frame of a program that draws. */
const FRAME_MS = 20;
const ROWS = 40;
const SEEKS = 60;
const READ_LIMIT_MS = 120_000;

/** A recording of 50 MB in a page of the board: milliseconds from a move of the slider until its frame is on the page. */
export async function measureReplay(page: Page, taskId: string, folder: string): Promise<Figures> {
  await pipeline(Readable.from(castLines()), createWriteStream(join(folder, 'terminal.cast')));
  await page.goto(`${page.url().split('#')[0]}#/${taskId}`);
  await page.getByRole('tab', { name: 'Replay' }).click();
  const reading = page.getByText('The recording is being read');
  await reading.waitFor();
  await reading.waitFor({ state: 'detached', timeout: READ_LIMIT_MS });
  await page.getByLabel('Skip idle time').uncheck();
  const seeks: number[] = [];
  for (let seek = 0; seek < SEEKS; seek++) seeks.push(await seekTo(page, Math.floor(Math.random() * FRAMES)));
  return figuresOf(seeks);
}

async function seekTo(page: Page, frame: number): Promise<number> {
  const ms = (frame + 1) * FRAME_MS;
  return page.evaluate<number>(
    `new Promise((done) => { const start = performance.now(); const slider = document.querySelector('[type=range]'); slider.value = '${ms}'; slider.dispatchEvent(new Event('input', { bubbles: true })); const look = () => /│\\s${frame}\\s/.test(document.querySelector('.xterm-rows').textContent) ? requestAnimationFrame(() => done(performance.now() - start)) : requestAnimationFrame(look); look(); })`,
  );
}

/** Frames of a line that scrolls and a box that is drawn again, each with its number behind a bar. */
function* castLines(): Generator<string> {
  yield `${JSON.stringify({ version: 2, width: 120, height: ROWS, timestamp: 1_700_000_000 })}\n`;
  for (let number = 0; number < FRAMES; number++)
    yield `${JSON.stringify([((number + 1) * FRAME_MS) / 1000, 'o', frameText(number)])}\n`;
}

function frameText(number: number): string {
  const words = Array.from(
    { length: 14 },
    (_, at) => `\x1b[3${(number + at) % 8}mword-${number + at}\x1b[0m`,
  );
  const box = [0, 1, 2].map((row) => `\x1b[${ROWS - 2 + row};1H\x1b[2K│ ${number} ${'─'.repeat(60)}`);
  return `\x1b[?25l\x1b[${ROWS - 3};1H\r\n${words.join(' ')}${box.join('')}\x1b[?25h`;
}
