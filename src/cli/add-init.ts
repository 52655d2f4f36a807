import { resolve } from 'node:path';
import type { Command } from 'commander';
import { chatClients } from '../clients/chat-clients.js';
import { expandHome } from '../config/places.js';
import type { CommandContext } from './command-context.js';
import { exitCodes } from './exit-codes.js';
import type { InitOptions } from './init/init.js';
import { terminalQuestions, type InitIo } from './init/questions.js';
import { serverCommandFor } from './own-command.js';

type InitFlags = Pick<InitOptions, 'roots' | 'client' | 'yes' | 'remove' | 'print'>;

export function addInit(program: Command, context: CommandContext): void {
  const ids = chatClients.map(({ id }) => id).join(', ');
  program
    .command('init')
    .description('ask for the allowed roots and write the settings file; add the server to your chat clients')
    .option('--roots <paths>', 'allowed roots to add, separated by commas, instead of asking')
    .option(
      '--client <ids>',
      `add the server to these clients without asking, separated by commas: ${ids}; or "all" that are installed`,
      listOf,
    )
    .option('--yes', 'answer every question with yes')
    .option('--remove', 'remove the server from all clients, or from those of --client')
    .option('--print <client>', 'show the entry for a client, and write nothing')
    .action(async (flags: InitFlags) => {
      const { runInit } = await import('./init/init.js');
      const io = await initIo();
      const { env, homeDir, command, exitWith, configPath } = context;
      const exitCode = await runInit({
        ...{ io, homeDir, env, command },
        ...(configPath !== undefined && { configPath: resolve(expandHome(configPath, homeDir)) }),
        platform: process.platform,
        cwd: process.cwd(),
        serverCommand: await serverCommandFor(context, process.execPath),
        ...flags,
      });
      const { questions } = io;
      const isAsked = flags.yes !== true && flags.remove !== true && flags.print === undefined;
      if (exitCode === exitCodes.done && questions !== undefined && isAsked) {
        const { offerTrust } = await import('./trust.js');
        const confirm = (question: string): Promise<boolean | undefined> =>
          questions.confirm(question, false);
        await offerTrust({ env, homeDir, configPath, write: (text) => io.write(text.trimEnd()), confirm });
      }
      exitWith(exitCode);
    });
}

function listOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

/** Questions need a terminal for input and output; without one, the flags must answer everything. */
async function initIo(): Promise<InitIo> {
  const hasTerminal = process.stdin.isTTY && process.stdout.isTTY;
  return {
    write: (text) => void process.stdout.write(`${text}\n`),
    writeError: (text) => void process.stderr.write(`${text}\n`),
    questions: hasTerminal ? await terminalQuestions() : undefined,
  };
}
