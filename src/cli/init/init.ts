import { BridgeError, messageOf, systemCodeOf } from '../../base/errors.js';
import { checkSandbox, OLDEST_SANDBOX_VERSION } from '../../claude/sandbox/check-sandbox.js';
import { findOnPath } from '../demo/find-on-path.js';
import { exitCodeOfError, exitCodes } from '../exit-codes.js';
import { npxServerCommand, SERVER_NAME, type ServerCommand } from './claude-desktop-settings.js';
import { shellWord } from '../own-command.js';
import { planDesktop, writeDesktop } from './init-desktop.js';
import type { InitIo } from './init-io.js';
import { planRoots, writeRoots } from './init-roots.js';

export interface InitOptions {
  readonly io: InitIo;
  readonly homeDir: string;
  readonly platform: NodeJS.Platform;
  readonly cwd: string;
  /** The search path by which programs are found; without it, init does not mention the sandbox. */
  readonly path?: string | undefined;
  /** The command for Claude Desktop; `npx -y claude-code-bridge` unless given. */
  readonly serverCommand?: ServerCommand | undefined;
  /** `--roots`: folders separated by commas, instead of the question; they replace the existing ones. */
  readonly roots?: string | undefined;
  /** `--claude-desktop`: adds the entry without a question. */
  readonly claudeDesktop?: boolean | undefined;
  /** `--yes`: replaces another entry without a question, and asks no other question. */
  readonly yes?: boolean | undefined;
}

/**
 * Asks for the allowed roots and writes the settings file; adds the server to Claude Desktop's settings if the user agrees. All
 * questions come before anything is written, so Ctrl-C changes nothing. Returns the exit code.
 */
export async function runInit(options: InitOptions): Promise<number> {
  const { io } = options;
  try {
    return await planAndWrite(options);
  } catch (thrown) {
    if (thrown instanceof BridgeError) io.writeError(`${thrown.code}: ${thrown.message}\n${thrown.hint}`);
    else if (systemCodeOf(thrown) !== undefined) io.writeError(`Not written: ${messageOf(thrown)}`);
    else throw thrown;
    return exitCodeOfError(thrown);
  }
}

async function planAndWrite(options: InitOptions): Promise<number> {
  const { io } = options;
  const desktopRequest = { ...options, serverCommand: options.serverCommand ?? npxServerCommand };
  const roots = await planRoots(options);
  const desktop = roots.kind === 'cancelled' ? roots : await planDesktop(desktopRequest);
  if (roots.kind === 'cancelled' || desktop.kind === 'cancelled') {
    io.writeError('Cancelled: nothing was written.');
    return exitCodes.interrupted;
  }
  if (roots.kind === 'keep') io.write('The allowed roots stay as they are.');
  else await writeRoots(options, roots);
  if (desktop.kind === 'write') await writeDesktop(desktopRequest, desktop.path);
  if (options.path !== undefined) {
    await recommendSandbox(options, options.path);
    await sayWhatIsNext(options, options.path, desktopRequest.serverCommand);
  }
  return 0;
}

/** Reports whether mode sandboxed works here, and otherwise how to fix that. */
async function recommendSandbox({ io, platform }: InitOptions, path: string): Promise<void> {
  try {
    await checkSandbox({ platform, env: { PATH: path } });
    io.write(
      `Recommended: permission_mode "sandboxed". It works here with Claude Code ${OLDEST_SANDBOX_VERSION} or newer: commands run without a question, and the kernel keeps them in the project.`,
    );
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    io.write(
      `permission_mode "sandboxed" is recommended, but does not work here yet. ${error.message} ${error.hint}`,
    );
  }
}

/** Says whether Claude Code is there, and how a client gets the server. */
async function sayWhatIsNext(
  { io, homeDir }: InitOptions,
  path: string,
  { command, args }: ServerCommand,
): Promise<void> {
  if ((await findOnPath('claude', path)) === undefined)
    io.write('Claude Code was not found on PATH: install it, and run `claude` once in a terminal to log in.');
  const line = [command, ...args].map((word) => shellWord(word, homeDir)).join(' ');
  io.write(
    `Next, add the server to your client. For Claude Code:\nclaude mcp add --scope user ${SERVER_NAME} -- ${line}`,
  );
}
