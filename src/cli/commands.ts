import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Option, type Command } from 'commander';
import { approvalModes } from '../approvals/modes.js';
import { messageOf } from '../base/errors.js';
import { VERSION } from '../base/package.js';
import { shellWord } from '../base/text.js';
import { MAX_ROUNDS } from '../checks/brief.js';
import { chatClients } from '../clients/chat-clients.js';
import { expandHome } from '../config/places.js';
import { taskTimeoutSeconds } from '../tasks/task-service.js';
import type { AttachFlags } from './attach/attach.js';
import type { BoardFlags } from './board.js';
import { cents, currentFolder, wholeNumber, type CommandContext } from './command-context.js';
import type { DoctorFlags } from './doctor.js';
import { exitCodes } from './exit-codes.js';
import { terminalQuestions, type InitOptions } from './init/questions.js';
import { serverCommandFor } from './own-command.js';
import type { RunFlags } from './run.js';

export const JSON_WORDS = 'print one JSON value instead of text';
const MAX_PORT = 65_535;
/** The most that the option can say. */
const MAX_TOKENS = 999_999_999;
/** npm asks its registry once; a line that does not answer must not hold the command. */
const NPM_LIMIT_MS = 30_000;
const PACKAGE = 'claude-code-bridge';
/** Enough to write the report of `doctor`. */
const LEAVES_WITHIN_MS = 3_000;

/** Adds a command. Its help has the examples, each behind the name of the program, and its errors name that help. */
export function addCommand(
  parent: Command,
  name: string,
  description: string,
  { program, examples }: { readonly program: string; readonly examples: readonly string[] },
): Command {
  const words = parent.parent === null ? name : `${parent.name()} ${name}`;
  const command = parent
    .command(name)
    .description(description)
    .showHelpAfterError(`Run ${program} ${words} --help for its arguments and options.`);
  const lines = examples.map((one) => `  ${program} ${one}`).join('\n');
  return lines === '' ? command : command.addHelpText('after', `\nExamples:\n${lines}`);
}

/** Adds the commands that are about no task or start one. `program`: how a person runs this program. */
export function addCommands(parent: Command, program: string, context: CommandContext): void {
  const add = (name: string, description: string, ...examples: string[]): Command =>
    addCommand(parent, name, description, { program, examples });
  // For its help; main.ts runs it without loading this file.
  add(
    'serve',
    'serve one MCP client over stdin and stdout (the default)',
    'serve',
    'serve ~/Projects /srv/work',
  ).argument('[folders...]', 'folders in which tasks may start, in place of the setting allowed_roots');
  addRun(
    add(
      'run',
      'start a task in this folder, show its log and ask what it asks; Ctrl-C leaves it running, twice ends it',
      'run "node test.js fails. Find out why and fix it."',
      'run --mode cautious --worktree "Update the dependencies."',
      'run --continue d93a7d "Now write a test for it."',
      'run - < prompt.md',
    ),
    context,
  );
  add(
    'board',
    'see, answer and steer all tasks in a browser, on this machine alone',
    'board',
    'board --port 7777 --no-open',
  )
    .option('--port <number>', 'port of the page; default: any free one', (text) =>
      wholeNumber('--port', text, 1, MAX_PORT),
    )
    .option('--host <address>', 'only 127.0.0.1 is accepted', '127.0.0.1')
    .option('--no-open', 'print the link, and open no browser')
    .option('--new-token', 'shut out all pages that are open')
    .action(async (flags: BoardFlags) => {
      const { openBoard } = await import('./board.js');
      context.exitWith(await openBoard(flags, context));
    });
  add(
    'attach',
    'show the terminal of a running task in this one; ctrl-] detaches, the task goes on',
    'attach',
    'attach d93a7d --read-only',
  )
    .argument('[task]', 'the id, its beginning or its last digits; default: the only running task')
    .option('--detach-key <key>', 'the key that detaches', 'ctrl-]')
    .option('--read-only', 'only watch: your keys and the size of your terminal do not reach the session')
    .action(async (task: string | undefined, flags: AttachFlags) => {
      const { runAttach } = await import('./attach/attach.js');
      context.exitWith(await runAttach(task, flags, context));
    });
}

function addRun(command: Command, context: CommandContext): void {
  const { min, max } = taskTimeoutSeconds;
  const modes = new Option('--mode <mode>', 'permission mode; default: default_permission_mode');
  const before = new Option(
    '--continue <task>',
    'go on with the session of a task that has ended, in its folder: its id, its beginning or its last digits',
  );
  const worktree = new Option(
    '--worktree',
    'work in a git worktree of its own, made from the last commit: what is not committed is not in it',
  );
  command
    .argument('<prompt...>', 'what Claude Code is to do; - reads it from stdin')
    .option(
      '--path <folder>',
      'the folder that the task works in; default: that of --continue, else this one',
    )
    .addOption(modes.choices(approvalModes))
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
    .option(
      '--check <check>',
      'run this when the agent says that it is done: "command" or "name: command"; may be repeated',
      (text, before: readonly string[] = []) => [...before, text],
    )
    .option(
      '--until-met <times>',
      'how often at most checks that are not met go back to the session',
      (text) => wholeNumber('--until-met', text, 0, MAX_ROUNDS),
    )
    .addOption(before.conflicts('worktree'))
    .option('--detach', 'print the id of the task and return')
    .option('--queue', 'if another task works in this folder, start after it')
    .addOption(worktree.conflicts('queue'))
    .action(async (words: string[], flags: RunFlags) => {
      const { runTask } = await import('./run.js');
      context.exitWith(await runTask(words.join(' '), flags, context));
    });
}

/** Adds the commands about this installation and its settings. `program`: how a person runs this program. */
export function addSetup(parent: Command, program: string, context: CommandContext): void {
  const add = (name: string, description: string, ...examples: string[]): Command =>
    addCommand(parent, name, description, { program, examples });
  addInit(
    add(
      'init',
      'ask for the allowed roots and write the settings file; add the server to your chat clients',
      'init',
      'init --roots ~/Projects,/srv/work --client claude-code,cursor',
      'init --print zed',
    ),
    context,
  );
  add(
    'trust',
    'show what a project configures for Claude Code, and let careful tasks use it while it stays the same',
    'trust',
    'trust ~/Projects/shop-math --remove',
  )
    .argument('[path]', 'the folder of the project; default: the current one')
    .option('--remove', 'trust it no longer')
    .action(async (given: string | undefined, flags: { remove?: boolean }) => {
      const { runTrust } = await import('./trust.js');
      const path = given ?? currentFolder(context.folder);
      const write = (text: string): void => void context.output.write(text);
      context.exitWith(await runTrust({ ...context, path, ...flags, write, confirm: confirmation() }));
    });
  add('state', 'say which machine the state directory belongs to, or make it this one’s')
    .argument('[action]', 'adopt: make it this machine’s, when no bridge runs on the other one any more')
    .action(async (action: string | undefined) => {
      const { runState } = await import('./state.js');
      context.exitWith(await runState(action, context));
    });
  add(
    'doctor',
    'check everything that tasks need, and name the command that mends what is wrong (exit code 0 all well, 1 warnings, 2 errors)',
    'doctor',
    'doctor --quick --json',
  )
    .option('--json', JSON_WORDS)
    .option('--fix', 'mend what is safe to mend, and print what was done')
    .option('--quick', 'leave out the task with a scripted model, which takes some seconds')
    .option('--rules', 'also check that Claude Code holds rules as the bridge relies on, in half a minute')
    .action(async (flags: DoctorFlags) => {
      const { runDoctor } = await import('./doctor.js');
      context.exitWith(await runDoctor(flags, context, untilStopped()));
      // A check that hangs, such as one of a disk that is gone, must not hold the command.
      setTimeout(() => process.exit(), LEAVES_WITHIN_MS).unref();
    });
  add(
    'demo',
    'run one task with the real Claude Code and a scripted model: needs no account and touches none of your files',
    'demo',
    'demo --claude /opt/claude/bin/claude',
  )
    .option('--claude <path>', 'the claude program to use')
    .action(async ({ claude }: { claude?: string }) => {
      const { runDemo } = await import('./demo/demo.js');
      const { serverEntry, env, homeDir, exitWith } = context;
      const write = (text: string): void => void process.stdout.write(text);
      const given = claude !== undefined && { claude: expandHome(claude, homeDir) };
      exitWith(await runDemo({ write, serverEntry, env, ...given, signal: untilStopped() }));
    });
  add(
    'version',
    'print the version, and how to update a clone; with --check, ask npm for the newest one',
    'version --check',
  )
    .option('--check', 'ask the npm registry whether there is another version')
    .action(async ({ check }: { check?: boolean }) => {
      const { serverEntry, homeDir, env, output } = context;
      void output.write(`${VERSION}\n`);
      const root = dirname(dirname(serverEntry));
      if (existsSync(join(root, '.git'))) {
        const folder = shellWord(root, homeDir);
        void output.write(
          `This is a clone. To update it: cd ${folder} && git pull && npm ci && npm run build\n`,
        );
      } else if (check === true) void output.write(`${await newestVersionWords(env)}\n`);
    });
}

function addInit(command: Command, context: CommandContext): void {
  const ids = chatClients.map(({ id }) => id).join(', ');
  const listOf = (text: string): readonly string[] =>
    text
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== '');
  command
    .option('--roots <paths>', 'allowed roots to add, separated by commas, instead of asking')
    .option(
      '--client <ids>',
      `add the server to these clients without asking, separated by commas: ${ids}; or "all" that are installed`,
      listOf,
    )
    .option('--yes', 'answer every question with yes')
    .option('--remove', 'remove the server from all clients, or from those of --client')
    .option('--print <client>', 'show the entry for a client, and write nothing')
    .action(async (flags: Pick<InitOptions, 'roots' | 'client' | 'yes' | 'remove' | 'print'>) => {
      const { runInit } = await import('./init/init.js');
      const { env, homeDir, command: program, exitWith, configPath } = context;
      const io = {
        write: (text: string) => void process.stdout.write(`${text}\n`),
        writeError: (text: string) => void process.stderr.write(`${text}\n`),
        questions: hasTerminal() ? await terminalQuestions() : undefined,
      };
      const exitCode = await runInit({
        ...{ io, homeDir, env, command: program },
        ...(configPath !== undefined && { configPath: resolve(expandHome(configPath, homeDir)) }),
        platform: process.platform,
        cwd: process.cwd(),
        serverCommand: await serverCommandFor(context, process.execPath),
        ...flags,
      });
      const isAsked = flags.yes !== true && flags.remove !== true && flags.print === undefined;
      if (exitCode === exitCodes.done && io.questions !== undefined && isAsked) {
        const { offerTrust } = await import('./trust.js');
        const write = (text: string): void => io.write(text.trimEnd());
        await offerTrust({ env, homeDir, configPath, write, confirm: confirmation() });
      }
      exitWith(exitCode);
    });
}

/** Questions need a terminal for input and output; without one, the flags must answer everything. */
function hasTerminal(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY;
}

/** Asks the person at the terminal; undefined without one. The answer is undefined after Ctrl-C. */
export function confirmation(): ((question: string) => Promise<boolean | undefined>) | undefined {
  return hasTerminal() ? async (question) => (await terminalQuestions()).confirm(question, false) : undefined;
}

/** Asks npm, which nothing else does. Throws when npm does not answer. */
async function newestVersionWords(env: NodeJS.ProcessEnv): Promise<string> {
  try {
    const asked = ['view', PACKAGE, 'version'];
    const newest = (await promisify(execFile)('npm', asked, { env, timeout: NPM_LIMIT_MS })).stdout.trim();
    return newest === VERSION
      ? 'This is the newest version on npm.'
      : `The newest version on npm is ${newest}: npx -y ${PACKAGE}@latest. Its CHANGELOG.md says what changed.`;
  } catch (error) {
    const [, why = messageOf(error)] = messageOf(error).split('\n');
    const words = messageOf(error).includes('E404')
      ? `The package ${PACKAGE} is not on npm.`
      : `npm did not tell the newest version: ${why}`;
    throw new Error(`${words} To try again: npm view ${PACKAGE} version`, { cause: error });
  }
}

/** Aborted at Ctrl-C. */
function untilStopped(): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  return stop.signal;
}
