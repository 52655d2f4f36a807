import type { Command } from 'commander';
import { configPath, type CommandContext } from './command-context.js';

export function addState(program: Command, { env, homeDir, output, exitWith }: CommandContext): void {
  program
    .command('state')
    .description('say which machine the state directory belongs to, or make it this one’s')
    .argument('[action]', 'adopt: make it this machine’s, when no bridge runs on the other one any more')
    .action(async (action: string | undefined) => {
      const { runState } = await import('./state.js');
      const options = { env, homeDir, configPath: configPath(program), action };
      exitWith(await runState({ ...options, write: (text) => void output.write(text) }));
    });
}
