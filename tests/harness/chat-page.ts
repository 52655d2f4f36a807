import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Browser, Frame, FrameLocator, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
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
  modes: z.array(z.string()),
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

  /** Errors and refused loads of its pages fail the test, but for those that are `expected`. */
  static async open(bridge: TestBridge, browser: Browser, expected?: RegExp): Promise<ChatPage> {
    endsWithTest(bridge);
    const context = await browser.newContext({ viewport: { width: 760, height: 900 } });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      const text = message.text();
      if (message.type() === 'error' && expected?.test(text) !== true) errors.push(text);
    });
    onTestFinished(() => {
      if (errors.length > 0) throw new Error(`errors in the page: ${errors.join('\n')}`);
    });
    const script = await hostScript();
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
    return seenSchema.parse(await this.#chat('seen'));
  }

  /** The tools of the server, as the client lists them. */
  async connect(): Promise<unknown> {
    return this.#chat('connect()');
  }

  async call(name: string, args: object): Promise<unknown> {
    return this.#chat(`call(${JSON.stringify(name)}, ${JSON.stringify(args)})`);
  }

  /** Reads the page with this URI from the server and shows it. Gives what the app calls itself. */
  async show(uri: string, options: ShowOptions = {}): Promise<unknown> {
    const { text } = z.object({ text: z.string() }).parse(await this.read(uri));
    return this.#chat(`show(${JSON.stringify(text)}, ${JSON.stringify(options)})`);
  }

  async read(uri: string): Promise<unknown> {
    return this.#chat(`read(${JSON.stringify(uri)})`);
  }

  async input(args: object): Promise<void> {
    await this.#chat(`input(${JSON.stringify(args)})`);
  }

  async result(result: unknown): Promise<void> {
    await this.#chat(`result(${JSON.stringify(result)})`);
  }

  async context(context: object): Promise<void> {
    await this.#chat(`context(${JSON.stringify(context)})`);
  }

  /** Refuses nothing any more. */
  async allow(): Promise<void> {
    await this.#chat('allow()');
  }

  async scrollAway(isAway: boolean): Promise<void> {
    await this.#chat(`scrollAway(${isAway})`);
  }

  async teardown(): Promise<unknown> {
    return this.#chat('teardown()');
  }

  #chat(call: string): Promise<unknown> {
    return this.page.evaluate(`window.chat.${call}`);
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

function hostScript(): Promise<string> {
  return (bundled ??= bundle());
}

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
