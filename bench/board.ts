import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { chromium, type Browser, type Page } from 'playwright-core';
import { z } from 'zod';
import { createTaskId } from '../src/base/ids.js';
import { discoverySchema } from '../src/board/board-place.js';
import { journalLine } from '../src/store/journal-line.js';
import { CHROMIUM } from '../tests/harness/need-table.js';
import { sampleRecord } from '../tests/tasks/sample-task.js';
import { startTask } from './delegate.js';
import { figuresOf, memoryOf } from './figures.js';
import { measureReplay } from './replay.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, createWorkplace, type Workplace } from './workplace.js';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
];
const FEW_TASKS = 50;
const MANY_TASKS = 100;
const PAINTS = 7;
const KEYS = 60;
const KEY_INTERVAL_MS = 60;
/** The last entry is on the page by then. */
const SETTLED_MS = 500;
const EVENTS = 10;
const ASKS = JSON.stringify([{ rule: 'terminal-prompt', verdict: 'ask', reason: 'a person decides' }]);
const msSchema = z.array(z.number());

/** Sizes of the page, first paint with 50 tasks, memory with 100 tasks, keys and entries to the screen, and a recording of 50 MB. */
export async function measureBoard(): Promise<unknown> {
  const workplace = await createWorkplace({ MCP_RULES: ASKS });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  try {
    for (let index = 0; index < FEW_TASKS; index++) writeEndedTask(workplace);
    const paints: number[] = [];
    for (let round = 0; round < PAINTS; round++)
      paints.push(await firstPaint(await openPage(browser, workplace)));
    for (let index = FEW_TASKS; index < MANY_TASKS; index++) writeEndedTask(workplace);
    const page = await openPage(browser, workplace);
    const typed = await typeIntoTask(page, workplace);
    const discovery = readFileSync(join(workplace.folder, 'state/board/board.json'), 'utf8');
    const { pid } = discoverySchema.parse(JSON.parse(discovery)).owner;
    const processMb = memoryOf(pid).pss;
    const { taskId, folder } = writeEndedTask(workplace);
    const seekMs = await measureReplay(page, taskId, folder);
    process.kill(pid, 'SIGTERM');
    return { sizes: sizes(), firstPaintMs: figuresOf(paints), processMb, seekMs, ...typed };
  } finally {
    await browser.close();
    workplace.dispose();
  }
}

/** Of each file of the page, in bytes. */
function sizes(): Record<string, { readonly bytes: number; readonly gzip: number }> {
  const folder = join(import.meta.dirname, '../dist/web');
  return Object.fromEntries(
    readdirSync(folder).map((name) => {
      const bytes = readFileSync(join(folder, name));
      return [name.replace(/-[A-Z0-9]+\./, '.'), { bytes: bytes.length, gzip: gzipSync(bytes).length }];
    }),
  );
}

async function openPage(browser: Browser, { env }: Workplace): Promise<Page> {
  const [node = '', entry = ''] = BRIDGE;
  const out = execFileSync(node, [entry, 'board', '--no-open'], { env, encoding: 'utf8' });
  const page = await (await browser.newContext()).newPage();
  await page.goto(/http:\/\/\S+/.exec(out)?.[0] ?? '');
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

/** A task with a terminal: from a key to the echo on screen, and from an entry of the journal to its line in the timeline. */
async function typeIntoTask(page: Page, workplace: Workplace): Promise<object> {
  const client = await StdioClient.open(BRIDGE, workplace.env);
  const task_id = await startTask(client, 'BENCH-SLEEP 600', workplace.project('app'));
  await page.goto(`${page.url().split('#')[0]}#/${task_id}`);
  // What was open before must not be taken for this task.
  await page.reload();
  await page.getByRole('tab', { name: 'Terminal' }).click();
  await page.getByRole('button', { name: 'Take the keyboard' }).click();
  await page.getByText('Your keys go to the session.').waitFor();
  await page.evaluate(
    "const painted = (then) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = then; port2.postMessage(0); }; window.keyTimes = []; let at = 0; addEventListener('keydown', () => { at = performance.now(); }, true); new MutationObserver(() => { if (at > 0) { const from = at; at = 0; painted(() => window.keyTimes.push(performance.now() - from)); } }).observe(document.querySelector('.xterm-rows'), { subtree: true, childList: true, characterData: true })",
  );
  for (let key = 0; key < KEYS; key++) {
    await page.keyboard.press('x');
    await sleep(KEY_INTERVAL_MS);
  }
  const keyMs = figuresOf(msSchema.parse(await page.evaluate('window.keyTimes')));
  await page.getByRole('tab', { name: 'Timeline' }).click();
  await page.evaluate(
    "window.entryTimes = []; new MutationObserver((all) => { for (const { addedNodes } of all) for (const node of addedNodes) { const time = node.querySelector?.('time'); if (time) window.entryTimes.push(Date.now() - Date.parse(time.dateTime)); } }).observe(document.querySelector('.timeline'), { childList: true })",
  );
  await client.call('kill_task', { task_id });
  await page.getByText('killed').first().waitFor();
  await sleep(SETTLED_MS);
  const entryMs = figuresOf(msSchema.parse(await page.evaluate('window.entryTimes')));
  await client.close();
  return { keyMs, entryMs };
}

/** A task that has ended, with a few entries in its journal. */
function writeEndedTask(workplace: Workplace): { readonly taskId: string; readonly folder: string } {
  const taskId = createTaskId(Date.now());
  const at = new Date().toISOString();
  const folder = join(workplace.folder, 'state', 'tasks', taskId);
  const record = sampleRecord({
    ...({ status: 'completed', reason: 'All done.', created_at: at, ended_at: at } as const),
    ...{ task_id: taskId, project_path: workplace.project('app'), keeper: null },
  });
  const lines = Array.from({ length: EVENTS }, (_, number) =>
    journalLine(number + 1, at, 'said', { text: `What was said as number ${number}.` }),
  );
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'record.json'), JSON.stringify(record));
  writeFileSync(join(folder, 'journal.ndjson'), lines.join(''));
  return { taskId, folder };
}
