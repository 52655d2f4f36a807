import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { messageOf } from '../base/errors.js';
import { shellWord } from '../base/text.js';
import { VERSION } from '../base/package.js';
import { expandHome } from '../config/places.js';
import { JSON_WORDS } from './add-tasks.js';
import type { AttachFlags } from './attach/attach.js';
import type { BoardFlags } from './board.js';
import { currentFolder, wholeNumber, type CommandContext } from './command-context.js';
import type { DoctorFlags } from './doctor.js';
import { terminalQuestions } from './init/questions.js';

const MAX_PORT = 65_535;
/** npm asks its registry once; a line that does not answer must not hold the command. */
const NPM_LIMIT_MS = 30_000;
const PACKAGE = 'claude-code-bridge';
/** Enough to write the report of `doctor`. */
const LEAVES_WITHIN_MS = 3_000;

/** For its help; main.ts runs `serve` without loading this file. */
export function addServe(program: Command): void {
  program
    .command('serve')
    .description('serve one MCP client over stdin and stdout (the default)')
    .argument('[folders...]', 'folders in which tasks may start, in place of the setting allowed_roots');
}

export function addBoard(program: Command, context: CommandContext): void {
  program
    .command('board')
    .description('see, answer and steer all tasks in a browser, on this machine alone')
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
}

export function addAttach(program: Command, context: CommandContext): void {
  program
    .command('attach')
    .description('show the terminal of a running task in this one; ctrl-] detaches, the task goes on')
    .argument('[task]', 'the id, its beginning or its last digits; default: the only running task')
    .option('--detach-key <key>', 'the key that detaches', 'ctrl-]')
    .option('--read-only', 'only watch: your keys and the size of your terminal do not reach the session')
    .action(async (task: string | undefined, flags: AttachFlags) => {
      const { runAttach } = await import('./attach/attach.js');
      context.exitWith(await runAttach(task, flags, context));
    });
}

export function addTrust(program: Command, context: CommandContext): void {
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
      const questions = hasTerminal ? await terminalQuestions() : undefined;
      const confirm = questions && ((question: string) => questions.confirm(question, false));
      const write = (text: string): void => void context.output.write(text);
      const project = path ?? currentFolder(context.folder);
      context.exitWith(await runTrust({ ...context, path: project, ...flags, write, confirm }));
    });
}

export function addState(program: Command, context: CommandContext): void {
  program
    .command('state')
    .description('say which machine the state directory belongs to, or make it this one’s')
    .argument('[action]', 'adopt: make it this machine’s, when no bridge runs on the other one any more')
    .action(async (action: string | undefined) => {
      const { runState } = await import('./state.js');
      context.exitWith(await runState(action, context));
    });
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
      context.exitWith(await runDoctor(flags, context, untilStopped()));
      // A check that hangs, such as one of a disk that is gone, must not hold the command.
      setTimeout(() => process.exit(), LEAVES_WITHIN_MS).unref();
    });
}

export function addDemo(program: Command, { env, homeDir, serverEntry, exitWith }: CommandContext): void {
  program
    .command('demo')
    .description(
      'run one task with the real Claude Code and a scripted model: needs no account and touches none of your files',
    )
    .option('--claude <path>', 'the claude program to use')
    .action(async (flags: { claude?: string }) => {
      const { runDemo } = await import('./demo/demo.js');
      exitWith(
        await runDemo({
          write: (text) => void process.stdout.write(text),
          serverEntry,
          env,
          ...(flags.claude !== undefined && { claude: expandHome(flags.claude, homeDir) }),
          signal: untilStopped(),
        }),
      );
    });
}

export function addVersion(program: Command, { env, homeDir, serverEntry, output }: CommandContext): void {
  program
    .command('version')
    .description('print the version, and how to update a clone; with --check, ask npm for the newest one')
    .option('--check', 'ask the npm registry whether there is another version')
    .action(async ({ check }: { check?: boolean }) => {
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
