import type { Command } from 'commander';
import { JSON_WORDS } from './add-tasks.js';
import { configPath, type CommandContext } from './command-context.js';

/** Enough to write the report. */
const LEAVES_WITHIN_MS = 3_000;

interface DoctorFlags {
  readonly json?: boolean;
  readonly fix?: boolean;
  readonly quick?: boolean;
  readonly rules?: boolean;
}

export function addDoctor(program: Command, context: CommandContext): void {
  program
    .command('doctor')
    .description(
      'check everything that tasks need, and name the command that mends what is wrong (exit code 0 all well, 1 warnings, 2 errors)',
    )
    .option('--json', JSON_WORDS)
    .option('--fix', 'mend what is safe to mend, and print what was done')
    .option('--quick', 'leave out the task with a scripted model, which takes some seconds')
    .option('--rules', 'also check that Claude Code holds rules as the bridge relies on, in half a minute')
    .action(async (flags: DoctorFlags) => {
      const { runDoctor } = await import('./doctor.js');
      const stop = new AbortController();
      const onSignal = (): void => stop.abort();
      process.once('SIGINT', onSignal);
      process.once('SIGTERM', onSignal);
      const { env, homeDir, command, serverEntry, keeperEntry, output, exitWith } = context;
      exitWith(
        await runDoctor({
          ...flags,
          ...{ env, homeDir, command, serverEntry, keeperEntry },
          configPath: configPath(program),
          signal: stop.signal,
          write: (text) => void output.write(text),
        }),
      );
      // A check that hangs, such as one of a disk that is gone, must not hold the command.
      setTimeout(() => process.exit(), LEAVES_WITHIN_MS).unref();
    });
}
