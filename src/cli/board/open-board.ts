import { tmpdir } from 'node:os';
import { systemClock } from '../../base/system-clock.js';
import type { BoardLink } from '../../board/board-place.js';
import { boardPlace } from '../../board/board-place.js';
import { linkToBoard } from '../../board/launch.js';
import { loadConfig } from '../../config/load-config.js';
import { stateDirectory } from '../../config/state-directory.js';
import { openRuntimeDir } from '../../store/runtime-dir.js';
import { openStateDir } from '../../store/state-dir.js';
import { exitCodes, type ExitCode } from '../exit-codes.js';
import { requireOutsideTasks } from '../require-outside-tasks.js';
import { browserProgram } from './browser-program.js';
import { openInBrowser } from './browser.js';

export interface OpenBoardOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
  /** How a person runs this program. */
  readonly command: string;
  readonly keeperEntry: string;
  readonly boardEntry: string;
  readonly configPath: string | undefined;
  /** 0 for any free one. */
  readonly port: number;
  /** Pages that are open are let in no longer. */
  readonly isNewToken: boolean;
  readonly opensBrowser: boolean;
  readonly write: (text: string) => void;
}

/** `claude-code-bridge board`: opens the page in a browser, or prints its link. The board is started if none runs. */
export async function openBoard(options: OpenBoardOptions): Promise<ExitCode> {
  const { env, homeDir, command, write } = options;
  await requireOutsideTasks(env, 'open the board');
  const { config } = await loadConfig({ ...options, cwd: process.cwd() });
  const stateDir = await openStateDir({ path: stateDirectory(config, options) });
  const runtimeDir = await openRuntimeDir({
    xdgRuntimeDir: env['XDG_RUNTIME_DIR'],
    tmpDir: tmpdir(),
    uid: process.getuid?.() ?? 0,
    statePath: stateDir.path,
  });
  const link = await linkToBoard({
    boardEntry: options.boardEntry,
    nodeArguments: [],
    statePath: stateDir.path,
    runtimePath: runtimeDir.path,
    env,
    logLevel: config.log_level,
    input: {
      homeDir,
      cwd: process.cwd(),
      command,
      keeperEntry: options.keeperEntry,
      port: options.port,
      new_token: options.isNewToken,
      ...(options.configPath !== undefined && { configPath: options.configPath }),
    },
    clock: systemClock,
  });
  const program = options.opensBrowser ? browserProgram(env, process.platform) : undefined;
  if (program !== undefined) {
    const { folder } = boardPlace(stateDir.path);
    if (await openInBrowser(program, link.url, folder)) {
      write(`The board is open in your browser, at port ${link.port}.\n`);
      return exitCodes.done;
    }
  }
  write(linkWords(link, env, command));
  return exitCodes.done;
}

function linkWords({ url, port }: BoardLink, env: NodeJS.ProcessEnv, command: string): string {
  const lines = [
    `The board: ${url}`,
    `The link opens one page, within a minute. Another one: ${command} board`,
  ];
  if (env['SSH_CONNECTION'] !== undefined)
    lines.push(
      `From the machine that you sit at, first run: ssh -L ${port}:127.0.0.1:${port} <this machine>`,
    );
  return `${lines.join('\n')}\n`;
}
