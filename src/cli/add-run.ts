import { Option, type Command } from 'commander';
import { taskTimeoutSeconds } from '../tasks/task-service.js';
import { approvalModes } from '../approvals/modes.js';
import type { PermissionMode } from '../tasks/task.js';
import { configPath, wholeNumber, type CommandContext } from './command-context.js';

interface RunFlags {
  readonly path?: string;
  readonly mode?: PermissionMode;
  readonly model?: string;
  readonly timeout?: number;
  readonly detach?: boolean;
  readonly queue?: boolean;
  readonly worktree?: boolean;
  readonly continue?: string;
}

export function addRun(program: Command, context: CommandContext): void {
  const { env, homeDir, command, keeperEntry, output, exitWith } = context;
  const { min, max } = taskTimeoutSeconds;
  program
    .command('run')
    .description(
      'start a task in this folder, show its log and ask what it asks; Ctrl-C leaves it running, twice ends it',
    )
    .argument('<prompt>', 'what Claude Code is to do; - reads it from stdin')
    .option('--path <folder>', 'the folder that the task works in; default: this one')
    .addOption(
      new Option('--mode <mode>', 'permission mode; default: default_permission_mode').choices(approvalModes),
    )
    .option('--model <model>', 'model, such as opus')
    .option(
      '--timeout <seconds>',
      `time limit, from ${min} to ${max}; default: default_timeout_seconds`,
      (text) => wholeNumber('--timeout', text, min, max),
    )
    .addOption(
      new Option(
        '--continue <task>',
        'go on with the session of a task that has ended in this folder: its id or the start of one',
      ).conflicts('worktree'),
    )
    .option('--detach', 'print the id of the task and return')
    .option('--queue', 'if another task works in this folder, start after it')
    .addOption(
      new Option(
        '--worktree',
        'if another task works in this folder, work beside it in a git worktree',
      ).conflicts('queue'),
    )
    .action(async (prompt: string, flags: RunFlags) => {
      const { runTask } = await import('./run.js');
      exitWith(
        await runTask({
          prompt,
          ...flags,
          configPath: configPath(program),
          env,
          homeDir,
          command,
          keeperEntry,
          cwd: process.cwd(),
          input: process.stdin,
          write: (text) => void output.write(text),
          lost: output.lost,
          say: (line) => void process.stderr.write(`${line}\n`),
        }),
      );
    });
}
