import type { Command } from 'commander';
import { configPath, type CommandContext } from './command-context.js';

export function addTrust(program: Command, { env, homeDir, output, exitWith }: CommandContext): void {
  program
    .command('trust')
    .description(
      'show what a project configures for Claude Code, and let careful tasks use it while it stays the same',
    )
    .argument('[path]', 'the folder of the project; default: the current one')
    .option('--remove', 'trust it no longer')
    .action(async (path: string | undefined, flags: { remove?: boolean }) => {
      const { runTrust } = await import('./trust.js');
      const hasTerminal = process.stdin.isTTY && process.stdout.isTTY;
      const questions = hasTerminal ? await import('./init/clack-questions.js') : undefined;
      const options = { env, homeDir, configPath: configPath(program), path, ...flags };
      const asked = await questions?.clackQuestions();
      const ask = asked && ((question: string) => asked.confirm(question, false));
      exitWith(await runTrust({ ...options, write: (text) => void output.write(text), confirm: ask }));
    });
}
