import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { figuresOf, type Figures } from './figures.js';
import type { Workplace } from './workplace.js';
import { writeRecording } from './write-recording.js';
import { writeTask } from './write-task.js';

const RECORDING_BYTES = 50e6;
const SEEKS = 60;
const READ_LIMIT_MS = 120_000;

export interface ReplayFigures {
  /** From the press on the tab until every moment can be shown. */
  readonly readMs: number;
  /** From a move of the slider until that moment is on the page. */
  readonly seekMs: Figures;
}

/** A recording of 50 MB in a page of the board. */
export async function measureReplay(page: Page, workplace: Workplace): Promise<ReplayFigures> {
  const { task_id, folder } = writeTask(workplace, {
    status: 'completed',
    reason: 'All done.',
    ended_at: new Date().toISOString(),
  });
  const { lengthMs, frameAt } = writeRecording(join(folder, 'terminal.cast'), RECORDING_BYTES);
  await page.goto(`${page.url().split('#')[0]}#/${task_id}`);
  const start = performance.now();
  await page.getByRole('tab', { name: 'Replay' }).click();
  await page.getByText('The recording is being read').waitFor();
  await page.getByText('The recording is being read').waitFor({ state: 'detached', timeout: READ_LIMIT_MS });
  const readMs = performance.now() - start;
  await page.getByLabel('Cut pauses').uncheck();
  const seeks: number[] = [];
  for (let seek = 0; seek < SEEKS; seek++) {
    const ms = Math.floor(Math.random() * lengthMs);
    seeks.push(await seekTo(page, ms, frameAt(ms)));
  }
  return { readMs, seekMs: figuresOf(seeks) };
}

async function seekTo(page: Page, ms: number, frame: number): Promise<number> {
  return page.evaluate<number>(
    `new Promise((done) => { const start = performance.now(); const slider = document.querySelector('[type=range]'); slider.value = '${ms}'; slider.dispatchEvent(new Event('input', { bubbles: true })); const look = () => /│\\s${frame}\\s/.test(document.querySelector('.xterm-rows').textContent) ? requestAnimationFrame(() => done(performance.now() - start)) : requestAnimationFrame(look); look(); })`,
  );
}
