import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { attach, type AttachedTerminal } from './attached-terminal.js';
import { serverEntry, startBridge, type BridgeOptions, type TestBridge } from './start-bridge.js';
import { VERSION } from '../../src/base/package.js';
import { until } from './until.js';
import type { Workplace } from './workplace.js';

const run = promisify(execFile);
/** The repository, which is the marketplace. */
const marketplace = fileURLToPath(new URL('../..', import.meta.url));
const LOG = 'plugin.log';
const PLUGIN = 'code-bridge@claude-code-bridge-plugins';

/** A terminal in which a person's session runs. */
export interface PersonalSession extends AttachedTerminal {
  /** Types a prompt as a person does: the CLI takes an Enter that comes at once for a part of a paste. */
  prompt(text: string): Promise<void>;
}

/** The real CLI of the person that `bridge` belongs to. */
export interface PersonalClaude {
  /** Runs `claude` with arguments; its output. */
  run(...args: string[]): Promise<string>;
  /** From the repository, or from a copy of it. */
  install(from?: string): Promise<void>;
  uninstall(): Promise<void>;
  /** Starts a session in a terminal, in the first project; with the plugin, its server is connected then. */
  open(...args: string[]): Promise<PersonalSession>;
}

/** A session of a person, with the plugin, and the bridge that sees it. */
export async function sessionWithPlugin(options: BridgeOptions & { readonly claude: string }): Promise<{
  readonly bridge: TestBridge;
  readonly claude: PersonalClaude;
  readonly terminal: PersonalSession;
}> {
  const bridge = await startBridge(options);
  const claude = await personalClaude(bridge, options.claude);
  await claude.install();
  return { bridge, claude, terminal: await claude.open() };
}

/** The only one that runs, as soon as the plugin has made its record: a dialog may be there before. */
export function onlySession(bridge: TestBridge): Promise<string> {
  return until('there is one session', async () => {
    const [id, ...others] = await bridge.ids({ status: 'active' });
    return id !== undefined && others.length === 0 && id;
  });
}

/** How many servers of the plugin Claude Code has connected to. */
async function connectedServers({ workplace }: TestBridge): Promise<number> {
  return (await readFile(join(workplace.root, LOG), 'utf8')).split('Client connected').length - 1;
}

/** A `PATH` on which the command of the plugin is a package in its version, whose program is the built server. */
export async function pathWithCommand({ root, env }: Workplace): Promise<string> {
  const [bin, home] = [join(root, 'bin'), join(root, 'package')];
  await mkdir(join(home, 'dist'), { recursive: true });
  await mkdir(bin, { recursive: true });
  await writeFile(join(root, LOG), '', { flag: 'a' });
  const about = { name: 'claude-code-bridge', version: VERSION, type: 'module' };
  await writeFile(join(home, 'package.json'), JSON.stringify(about));
  const main = join(home, 'dist', 'main.js');
  const program = `import { appendFileSync } from 'node:fs';
process.stderr.write = (text) => (appendFileSync(${JSON.stringify(join(root, LOG))}, text), true);
process.argv[1] = ${JSON.stringify(serverEntry)};
await import(process.argv[1]);\n`;
  await writeFile(main, program);
  await rm(join(bin, 'claude-code-bridge'), { force: true });
  await symlink(main, join(bin, 'claude-code-bridge'));
  return `${bin}:${env['PATH'] ?? ''}`;
}

/** The CLI of the person, with such a `PATH`. */
export async function personalClaude(bridge: TestBridge, binary: string): Promise<PersonalClaude> {
  const path = await pathWithCommand(bridge.workplace);
  let isInstalled = false;
  const claude = async (...args: string[]): Promise<string> => {
    const options = { env: { ...bridge.env, PATH: path }, cwd: bridge.project };
    const { stdout } = await run(binary, args, options);
    return stdout;
  };
  return {
    run: claude,
    install: async (from = marketplace) => {
      await claude('plugin', 'marketplace', 'add', from);
      await claude('plugin', 'install', PLUGIN);
      isInstalled = true;
    },
    uninstall: async () => {
      isInstalled = false;
      await claude('plugin', 'uninstall', PLUGIN);
      await claude('plugin', 'marketplace', 'remove', 'claude-code-bridge-plugins');
    },
    open: async (...args) => {
      const words = args.map((word) => `'${word}'`).join(' ');
      const shell = `PATH='${path}' exec '${binary}' --permission-mode default ${words}`;
      const before = await connectedServers(bridge);
      const terminal = await attach(bridge, { shell, cwd: bridge.project });
      await terminal.sees(/manual mode on|\? for shortcuts/);
      if (isInstalled) await until('the plugin', async () => (await connectedServers(bridge)) > before);
      return {
        ...terminal,
        prompt: async (text) => {
          terminal.type(text);
          await terminal.sees(text);
          terminal.type('\r');
        },
      };
    },
  };
}
