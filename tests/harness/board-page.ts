import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { chromium, type Browser, type Frame, type Page } from 'playwright-core';
import { afterAll, onTestFinished } from 'vitest';
import { endsWithTest } from './board-process.js';
import { CHROMIUM } from './need-table.js';
import { serverEntry, type TestBridge } from './start-bridge.js';

/** Without these flags Chromium asks hosts of its maker, which no test needs. */
const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

let starting: Promise<Browser> | undefined;

/** One browser for all tests of a file. */
export function sharedBrowser(): () => Promise<Browser> {
  afterAll(async () => {
    const browser = await starting;
    starting = undefined;
    await browser?.close();
  });
  return () => (starting ??= chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_FLAGS }));
}

/** Runs `claude-code-bridge board --no-open` and gives the link that it prints; the board ends with the test. */
export async function boardLink(bridge: TestBridge, ...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [serverEntry, 'board', '--no-open', ...args],
    {
      cwd: bridge.project,
      env: bridge.env,
    },
  );
  const url = /http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]+/.exec(stdout)?.[0];
  if (url === undefined) throw new Error(`no link: ${stdout}`);
  endsWithTest(bridge);
  return url;
}

/** By how much what is in a page, or in a frame of one, is wider than its window. */
export function overflowOf(part: Pick<Page | Frame, 'evaluate'>): Promise<number> {
  return part.evaluate('document.documentElement.scrollWidth - innerWidth');
}

/** Errors and refused loads of the page fail the test, but for those that are expected. */
export function failOnErrors(page: Page, expected?: RegExp): void {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' && expected?.test(text) !== true) errors.push(text);
  });
  onTestFinished(() => {
    if (errors.length > 0) throw new Error(`errors in the page: ${errors.join('\n')}`);
  });
}

/** A page of the board, in a browser profile of its own. Errors and refused loads of the page fail the test. */
export async function boardPage(bridge: TestBridge, browser: Browser): Promise<Page> {
  // First, so that the board ends after its pages.
  const link = await boardLink(bridge);
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  // A lost connection is said by the browser itself.
  failOnErrors(page, /WebSocket|ERR_CONNECTION_REFUSED/);
  await page.goto(link);
  return page;
}
