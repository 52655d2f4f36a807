import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { chromium, type Page } from 'playwright-core';
import { z } from 'zod';
import { discoverySchema } from '../src/board/board-place.js';
import { journalLine } from '../src/store/journal-line.js';
import { figuresOf, memoryOf, type Figures } from './figures.js';
import { measureReplay, type ReplayFigures } from './replay.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, createWorkplace, type Workplace } from './workplace.js';
import { writeTask } from './write-task.js';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
];
const FEW_TASKS = 50;
const MANY_TASKS = 100;
const EVENTS = 5_000;
const PAINTS = 7;
const KEYS = 60;
const KEY_INTERVAL_MS = 60;
const FLOODS = 7;
/** A flood has gone on for so long when it is interrupted: some hundred MB. */
const FLOOD_MS = 3_000;

const startedSchema = z.object({ task_id: z.string() });

export interface BoardFigures {
  readonly sizes: Readonly<Record<string, { readonly bytes: number; readonly gzip: number }>>;
  readonly firstPaintMs: Figures;
  readonly longTaskMs: number;
  readonly processMb: number;
  readonly replay: ReplayFigures;
  readonly keyMs: Figures;
  readonly entryMs: Figures;
  /** From Ctrl-C under a flood to what the program prints then. */
  readonly interruptMs: Figures;
}

/**
 * Sizes of the page, first paint with 50 tasks, a task of 5,000 events, memory with 100 tasks, keys and entries to the screen, and a
 * recording of 50 MB.
 */
export async function measureBoard(): Promise<BoardFigures> {
  const workplace = await createWorkplace({ MCP_RULES: ASKS });
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: FLAGS });
  try {
    for (let index = 0; index < FEW_TASKS; index++) writeEndedTask(workplace, 10);
    const paints: number[] = [];
    for (let round = 0; round < PAINTS; round++)
      paints.push(await firstPaint(await openPage(browser, workplace)));
    for (let index = FEW_TASKS; index < MANY_TASKS; index++) writeEndedTask(workplace, 10);
    const long = writeEndedTask(workplace, EVENTS);
    const page = await openPage(browser, workplace);
    const longTaskMs = await openLong(page, long);
    const typed = await typeIntoTask(page, workplace);
    const { owner } = discovery(workplace);
    const processMb = memoryOf(owner.pid).pss;
    const interruptMs = await interruptFloods(page, workplace);
    const replay = await measureReplay(page, workplace);
    process.kill(owner.pid, 'SIGTERM');
    return {
      sizes: sizes(),
      firstPaintMs: figuresOf(paints),
      longTaskMs,
      processMb,
      replay,
      ...typed,
      interruptMs,
    };
  } finally {
    await browser.close();
    workplace.dispose();
  }
}

const ASKS = JSON.stringify([{ rule: 'terminal-prompt', verdict: 'ask', reason: 'a person decides' }]);

function sizes(): BoardFigures['sizes'] {
  const folder = join(import.meta.dirname, '../dist/web');
  return Object.fromEntries(
    readdirSync(folder).map((name) => {
      const bytes = readFileSync(join(folder, name));
      return [name.replace(/-[A-Z0-9]+\./, '.'), { bytes: bytes.length, gzip: gzipSync(bytes).length }];
    }),
  );
}

async function openPage(
  browser: Awaited<ReturnType<typeof chromium.launch>>,
  workplace: Workplace,
): Promise<Page> {
  const [node = '', entry = ''] = BRIDGE;
  const out = execFileSync(node, [entry, 'board', '--no-open'], { env: workplace.env, encoding: 'utf8' });
  const link = /http:\/\/\S+/.exec(out)?.[0] ?? '';
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.locator('.row').first().waitFor();
  return page;
}

/** From the start of the navigation to the first row of a task. */
async function firstPaint(page: Page): Promise<number> {
  await page.reload();
  const ms = await page.evaluate<number>(
    "new Promise((done) => { const look = () => document.querySelector('.row') ? requestAnimationFrame(() => done(performance.now())) : requestAnimationFrame(look); look(); })",
  );
  await page.context().close();
  return ms;
}

async function openLong(page: Page, taskId: string): Promise<number> {
  return page.evaluate<number>(
    `new Promise((done) => { const start = performance.now(); location.hash = '#/${taskId}'; const look = () => document.querySelectorAll('.entry').length > 100 ? requestAnimationFrame(() => done(performance.now() - start)) : requestAnimationFrame(look); look(); })`,
  );
}

async function takeKeyboard(page: Page, taskId: string): Promise<void> {
  await page.goto(`${page.url().split('#')[0]}#/${taskId}`);
  // What was open before must not be taken for this task.
  await page.reload();
  await page.getByRole('tab', { name: 'Terminal' }).click();
  await page.getByRole('button', { name: 'Take the keyboard' }).click();
  await page.getByText('Your keys go to the session.').waitFor();
}

/** Programs that print without an end, each interrupted in the page. */
async function interruptFloods(page: Page, workplace: Workplace): Promise<Figures> {
  const client = new StdioClient(BRIDGE, workplace.env);
  await client.initialize();
  const times: number[] = [];
  for (let round = 0; round < FLOODS; round++) {
    const { task_id } = startedSchema.parse(
      await client.call('start_task', { prompt: 'BENCH-FLOOD -', path: workplace.project('flood') }),
    );
    await takeKeyboard(page, task_id);
    await sleep(FLOOD_MS);
    await page.evaluate(
      "window.stopped = new Promise((done, fail) => { setTimeout(() => fail(new Error('the flood did not end')), 30000); addEventListener('keydown', () => { const from = performance.now(); const look = () => document.querySelector('.xterm-rows').textContent.includes('STOPPED') ? done(performance.now() - from) : requestAnimationFrame(look); look(); }, { capture: true, once: true }); }); undefined",
    );
    await page.keyboard.press('Control+c');
    times.push(z.number().parse(await page.evaluate('window.stopped')));
    await client.call('kill_task', { task_id });
  }
  await client.close();
  return figuresOf(times);
}

/** A task with a terminal: from a key to the echo on screen, and from an entry of the journal to its line in the timeline. */
async function typeIntoTask(
  page: Page,
  workplace: Workplace,
): Promise<{ readonly keyMs: Figures; readonly entryMs: Figures }> {
  const client = new StdioClient(BRIDGE, workplace.env);
  await client.initialize();
  const path = workplace.project('app');
  const { task_id } = startedSchema.parse(
    await client.call('start_task', { prompt: 'BENCH-SLEEP 600', path }),
  );
  await takeKeyboard(page, task_id);
  await page.evaluate(
    "const painted = (then) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = then; port2.postMessage(0); }; window.keyTimes = []; let at = 0; addEventListener('keydown', () => { at = performance.now(); }, true); new MutationObserver(() => { if (at > 0) { const from = at; at = 0; painted(() => window.keyTimes.push(performance.now() - from)); } }).observe(document.querySelector('.xterm-rows'), { subtree: true, childList: true, characterData: true })",
  );
  for (let key = 0; key < KEYS; key++) {
    await page.keyboard.press('x');
    await sleep(KEY_INTERVAL_MS);
  }
  const keyTimes = z.array(z.number()).parse(await page.evaluate('window.keyTimes'));
  await page.getByRole('tab', { name: 'Timeline' }).click();
  await page.evaluate(
    "window.entryTimes = []; new MutationObserver((all) => { for (const { addedNodes } of all) for (const node of addedNodes) { const time = node.querySelector?.('time'); if (time) window.entryTimes.push(Date.now() - Date.parse(time.dateTime)); } }).observe(document.querySelector('.timeline'), { childList: true })",
  );
  await client.call('kill_task', { task_id });
  await page.getByText('killed').first().waitFor();
  await sleep(500);
  const entryTimes = z.array(z.number()).parse(await page.evaluate('window.entryTimes'));
  await client.close();
  return { keyMs: figuresOf(keyTimes), entryMs: figuresOf(entryTimes) };
}

function discovery(workplace: Workplace): z.infer<typeof discoverySchema> {
  return discoverySchema.parse(
    JSON.parse(readFileSync(join(workplace.folder, 'state', 'board', 'board.json'), 'utf8')),
  );
}

function writeEndedTask(workplace: Workplace, events: number): string {
  const at = new Date().toISOString();
  const { task_id, folder } = writeTask(workplace, {
    status: 'completed',
    reason: 'All done.',
    ended_at: at,
  });
  const line = (number: number): string =>
    journalLine(number + 1, at, 'said', { text: `What was said as number ${number}.` });
  writeFileSync(
    join(folder, 'journal.ndjson'),
    Array.from({ length: events }, (_, number) => line(number)).join(''),
  );
  return task_id;
}
