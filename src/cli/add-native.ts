import type { Command } from 'commander';
import { addAnswer, addDefaultList, JSON_WORDS, tasksRunner } from './add-tasks.js';
import { configPath, type CommandContext } from './command-context.js';

export function addNative(program: Command, context: CommandContext): void {
  const native = program
    .command('native')
    .description('list, show and answer sessions of Claude Code that you started yourself');
  const run = tasksRunner(program, context, { native: true });
  addDefaultList(native, run);
  native
    .command('list')
    .description('list your sessions, newest first (the default)')
    .option('--json', JSON_WORDS)
    .action((flags: { json?: boolean }) => run({ what: 'list' }, flags));
  native
    .command('show')
    .description('show one session: what it does, and what it asks')
    .argument('[session]', 'id of the session or the start of one; default: the only one that runs')
    .option('--json', JSON_WORDS)
    .action((id: string | undefined, flags: { json?: boolean }) => run({ what: 'show', task: id }, flags));
  addAnswer(native, run, 'answer what a session asks', '<session>');
  native
    .command('off')
    .description('end it: no session that you start is seen, recorded or answered any more')
    .action(() => switching(program, context, false));
  native
    .command('on')
    .description('see, record and answer such sessions again')
    .action(() => switching(program, context, true));
}

async function switching(
  program: Command,
  { env, homeDir, command, keeperEntry, output, exitWith }: CommandContext,
  on: boolean,
): Promise<void> {
  const { switchSessions } = await import('./native.js');
  const options = { env, homeDir, configPath: configPath(program), keeperEntry, command };
  exitWith(await switchSessions(on, { ...options, write: (text) => void output.write(text) }));
}
