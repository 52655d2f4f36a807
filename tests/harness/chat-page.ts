import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Browser, Frame, FrameLocator, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { failOnErrors } from './board-page.js';
import { endsWithTest } from './board-process.js';
import { serverEntry, type TestBridge } from './start-bridge.js';

const HOST_URL = 'http://chat.test/';
/** What a client must allow a page at most that asks for nothing; a page in a `srcdoc` frame has the policy of the page around it. */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-src 'self'; connect-src 'none'";

const seenSchema = z.object({
  sizes: z.array(z.object({ width: z.number(), height: z.number() })),
  links: z.array(z.string()),
  told: z.array(z.string()),
  /** Calls that the page took back. */
  cancelled: z.number(),
  calls: z.array(z.object({ name: z.string(), args: z.record(z.string(), z.unknown()) })),
});
export type Seen = z.infer<typeof seenSchema>;

export interface ShowOptions {
  readonly context?: Readonly<Record<string, unknown>>;
  /** What this client refuses: `links`, `context`, or the name of a tool. */
  readonly deny?: readonly string[];
}

/** A chat in a browser whose client shows apps, with a server of its own over the state of `bridge`. */
export class ChatPage {
  readonly page: Page;

  private constructor(page: Page) {
    this.page = page;
  }

  /** Its client is connected. Errors and refused loads of its pages fail the test, but for those that are `expected`. */
  static async open(bridge: TestBridge, browser: Browser, expected?: RegExp): Promise<ChatPage> {
    endsWithTest(bridge);
    const context = await browser.newContext({ viewport: { width: 760, height: 900 } });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    failOnErrors(page, expected);
    const script = await (bundled ??= bundle());
    await page.route('**/*', (route) =>
      route.request().url() === HOST_URL
        ? route.fulfill({
            headers: { 'content-security-policy': POLICY },
            contentType: 'text/html',
            body: `<!doctype html><body><script>${script.replaceAll('</script', '<\\/script')}</script></body>`,
          })
        : route.abort(),
    );
    await carryTo(page, bridge);
    await page.goto(HOST_URL);
    await page.evaluate('window.chat.connect()');
    return new ChatPage(page);
  }

  /** The same, for what only a script in it can do. */
  get frame(): Frame {
    const frame = this.page.frames()[1];
    if (frame === undefined) throw new Error('no app is shown');
    return frame;
  }

  /** The frame in which the app is. */
  get app(): FrameLocator {
    return this.page.frameLocator('iframe');
  }

  async seen(): Promise<Seen> {
    return seenSchema.parse(await this.page.evaluate('window.chat.seen'));
  }

  /** Reads the page with this URI from the server and shows it. Gives what the app calls itself. */
  async show(uri: string, options: ShowOptions = {}): Promise<unknown> {
    const { text } = z.object({ text: z.string() }).parse(await this.does('read', uri));
    return this.does('show', text, options);
  }

  /** Has the client do something, by the name that this has in chat-host.mjs. */
  does(
    what: 'call' | 'read' | 'show' | 'input' | 'result' | 'context' | 'allow' | 'scrollAway' | 'teardown',
    ...args: readonly unknown[]
  ): Promise<unknown> {
    return this.page.evaluate(`window.chat.${what}(${args.map((one) => JSON.stringify(one)).join()})`);
  }
}

/** Starts a server and carries its messages to the page and back. It ends with the test. */
async function carryTo(page: Page, bridge: TestBridge): Promise<void> {
  const server = spawn(process.execPath, [serverEntry], {
    cwd: bridge.workplace.root,
    env: { ...bridge.env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  onTestFinished(async () => {
    if (server.exitCode !== null) return;
    const exited = once(server, 'exit');
    server.stdin.end();
    await exited;
  });
  await page.exposeFunction('toServer', (message: string) => void server.stdin.write(`${message}\n`));
  createInterface(server.stdout).on('line', (line) => {
    // The page may be gone already.
    page.evaluate(`window.fromServer?.(${line})`).catch(() => undefined);
  });
}

let bundled: Promise<string> | undefined;

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./chat-host.mjs', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    target: 'chrome111',
    logLevel: 'warning',
  });
  return outputFiles[0]?.text ?? '';
}
