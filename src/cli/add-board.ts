import type { Command } from 'commander';
import { BridgeError } from '../base/errors.js';
import { configPath, wholeNumber, type CommandContext } from './command-context.js';

const MAX_PORT = 65_535;
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost']);

export function addBoard(
  program: Command,
  { env, homeDir, command, keeperEntry, boardEntry, exitWith }: CommandContext,
): void {
  program
    .command('board')
    .description('see, answer and steer all tasks in a browser, on this machine alone')
    .option('--port <number>', 'port of the page; default: any free one', (text) =>
      wholeNumber('--port', text, 1, MAX_PORT),
    )
    .option('--host <address>', 'only 127.0.0.1 is accepted', '127.0.0.1')
    .option('--no-open', 'print the link, and open no browser')
    .option('--new-token', 'shut out all pages that are open')
    .action(async (flags: { port?: number; host: string; open: boolean; newToken?: true }) => {
      requireLoopback(flags.host);
      const { openBoard } = await import('./board/open-board.js');
      exitWith(
        await openBoard({
          env,
          homeDir,
          command,
          keeperEntry,
          boardEntry,
          configPath: configPath(program),
          port: flags.port ?? 0,
          isNewToken: flags.newToken === true,
          opensBrowser: flags.open,
          write: (text) => void process.stdout.write(text),
        }),
      );
    });
}

function requireLoopback(host: string): void {
  if (LOOPBACK.has(host)) return;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `The board serves this machine alone, so it cannot listen at ${host}.`,
    'To see it from another machine, run it with --port 7777 --no-open here, ssh -L 7777:127.0.0.1:7777 there, and open the link there.',
  );
}
