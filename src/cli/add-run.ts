import { Option, type Command } from 'commander';
import { taskTimeoutSeconds } from '../tasks/task-service.js';
import { approvalModes } from '../approvals/modes.js';
import { cents, wholeNumber, type CommandContext } from './command-context.js';
import type { RunFlags } from './run.js';

/** The most that the option can say. */
const MAX_TOKENS = 999_999_999;

export function addRun(program: Command, context: CommandContext): void {
  const { min, max } = taskTimeoutSeconds;
  program
    .command('run')
    .description(
      'start a task in this folder, show its log and ask what it asks; Ctrl-C leaves it running, twice ends it',
    )
    .argument('<prompt...>', 'what Claude Code is to do; - reads it from stdin')
    .option(
      '--path <folder>',
      'the folder that the task works in; default: that of --continue, else this one',
    )
    .addOption(
      new Option('--mode <mode>', 'permission mode; default: default_permission_mode').choices(approvalModes),
    )
    .option('--model <model>', 'model, such as opus')
    .option(
      '--timeout <seconds>',
      `time limit, from ${min} to ${max}; default: default_timeout_seconds`,
      (text) => wholeNumber('--timeout', text, min, max),
    )
    .option('--max-cost <usd>', 'end the task when it has cost so many US dollars', (text) =>
      cents('--max-cost', text),
    )
    .option('--max-tokens <count>', 'end the task when it has used so many tokens', (text) =>
      wholeNumber('--max-tokens', text, 1, MAX_TOKENS),
    )
    .addOption(
      new Option(
        '--continue <task>',
        'go on with the session of a task that has ended, in its folder: its id, its beginning or its last digits',
      ).conflicts('worktree'),
    )
    .option('--detach', 'print the id of the task and return')
    .option('--queue', 'if another task works in this folder, start after it')
    .addOption(
      new Option(
        '--worktree',
        'work in a git worktree of its own, made from the last commit: what is not committed is not in it',
      ).conflicts('queue'),
    )
    .action(async (words: string[], flags: RunFlags) => {
      const { runTask } = await import('./run.js');
      context.exitWith(await runTask(words.join(' '), flags, context));
    });
}
