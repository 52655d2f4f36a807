import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../base/system-clock.js';
import { boardPlace, type BoardLink } from '../board/board-place.js';
import { linkToBoard } from '../board/launch.js';
import { loadConfig } from '../config/load-config.js';
import { stateDirectory } from '../config/places.js';
import { openRuntimeDir } from '../store/runtime-dir.js';
import { openStateDir } from '../store/state-dir.js';
import { requireOutsideTasks, type CommandContext } from './command.js';
import { exitCodes, type ExitCode } from './exit-codes.js';
import { withCommand } from './terminal-text.js';

const OWNER_ONLY = 0o600;

export interface BoardFlags {
  /** Any free one when left out. */
  readonly port?: number;
  /** Whether a browser is opened. */
  readonly open: boolean;
  /** Pages that are open are let in no longer. */
  readonly newToken?: true;
}

/** `claude-code-bridge board`: opens the page in a browser, or prints its link. The board is started if none runs. */
export async function openBoard(flags: BoardFlags, context: CommandContext): Promise<ExitCode> {
  const { env, homeDir, command, configPath, boardEntry, keeperEntry, output, say } = context;
  await requireOutsideTasks(env, 'open the board');
  const cwd = process.cwd();
  const { config } = await loadConfig({ env, homeDir, configPath, cwd });
  const stateDir = await openStateDir({ path: stateDirectory(config, { env, homeDir }) });
  const runtimeDir = await openRuntimeDir(stateDir.path);
  const link = await linkToBoard({
    boardEntry,
    nodeArguments: [],
    statePath: stateDir.path,
    runtimePath: runtimeDir.path,
    env,
    logLevel: config.log_level,
    input: {
      ...{ homeDir, cwd, command, keeperEntry },
      port: flags.port ?? 0,
      new_token: flags.newToken === true,
      ...(configPath !== undefined && { configPath }),
    },
    clock: systemClock,
  });
  const program = flags.open ? browserProgram(env, process.platform) : undefined;
  const { folder } = boardPlace(stateDir.path);
  const isOpened = program !== undefined && (await openInBrowser(program, link.url, folder));
  const words = isOpened
    ? `The board is open in your browser, at port ${link.port}.\n`
    : linkWords(link, context);
  void output.write(words);
  if (flags.port !== undefined && flags.port !== link.port)
    say(`A board runs already, at port ${link.port}: --port is for a new one.`);
  return exitCodes.done;
}

function linkWords({ url, port }: BoardLink, { env, command, look }: CommandContext): string {
  const another = 'The link opens one page, within a minute. Another one:';
  const lines = [`The board: ${url}`, withCommand(another, `${command} board`, look)];
  if (env['SSH_CONNECTION'] !== undefined)
    lines.push(
      `From the machine that you sit at, first run: ssh -L ${port}:127.0.0.1:${port} <this machine>`,
    );
  return `${lines.join('\n')}\n`;
}

/** The program that opens a page where a person sits at this machine; undefined elsewhere. */
export function browserProgram(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): string | undefined {
  if (env['SSH_CONNECTION'] !== undefined) return undefined;
  if (platform === 'darwin') return 'open';
  const hasDisplay = (env['DISPLAY'] ?? '') !== '' || (env['WAYLAND_DISPLAY'] ?? '') !== '';
  return platform === 'linux' && hasDisplay ? 'xdg-open' : undefined;
}

/**
 * Opens a link; false when the program is missing or fails. The link stands in a file of this user alone, which the next link replaces, and
 * not in a command line, which every user of the machine can read.
 */
async function openInBrowser(program: string, url: string, folder: string): Promise<boolean> {
  const file = join(folder, 'open.html');
  const html = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${url}"><title>Opening the board</title>\n`;
  await rm(file, { force: true });
  await writeFile(file, html, { mode: OWNER_ONLY, flag: 'wx' });
  const isOpened = await ran(program, `file://${file}`);
  if (!isOpened) await rm(file, { force: true });
  return isOpened;
}

async function ran(program: string, argument: string): Promise<boolean> {
  const child = spawn(program, [argument], { stdio: 'ignore', detached: true });
  child.unref();
  // Rejects when there is no such program.
  const [code]: readonly unknown[] = await once(child, 'exit').catch(() => []);
  return code === 0;
}
