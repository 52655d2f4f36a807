import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { VERSION } from '../base/package.js';
import { shellWord } from '../base/text.js';
import { chatClients } from '../clients/chat-clients.js';
import { defaultSettingsPath, expandHome } from '../config/places.js';
import type { BoardFlags } from './board.js';
import { addCommand, currentFolder, untilStopped, wholeNumber, type CommandContext } from './command.js';
import type { DoctorFlags } from './doctor.js';
import { Cancelled, exitCodes, type ExitCode } from './exit-codes.js';
import type { InitFlags } from './init/init-settings.js';
import { serverCommandFor } from './own-command.js';
import { terminalQuestions } from './questions.js';

const MAX_PORT = 65_535;
/** Enough to write the report of `doctor`. */
const LEAVES_WITHIN_MS = 3_000;

/** Adds `board`. */
export function addBoard(parent: Command, context: CommandContext): void {
  const words = 'see, answer and steer all tasks in a browser, on this machine alone';
  addCommand(parent, context, 'board', words, '', '--port 7777 --no-open')
    .option('--port <number>', 'port of the page; default: any free one', wholeNumber('--port', 1, MAX_PORT))
    .option('--no-open', 'print the link, and open no browser')
    .option('--new-token', 'shut out all pages that are open')
    .action(
      context.ending(async (flags: BoardFlags) => (await import('./board.js')).openBoard(flags, context)),
    );
}

/** Adds the commands about this installation and its settings. */
export function addSetup(parent: Command, context: CommandContext): void {
  const add = (name: string, description: string, ...examples: string[]): Command =>
    addCommand(parent, context, name, description, ...examples);
  addInit(
    add(
      'init',
      'ask for the allowed roots and write the settings file; add the server to your chat clients',
      '',
      '--roots ~/Projects,/srv/work --client claude-code,cursor',
      '--print zed',
    ),
    context,
  );
  add(
    'trust',
    'show what a project configures for Claude Code, and let careful tasks use it while it stays the same',
    '',
    '~/Projects/shop-math --remove',
  )
    .argument('[path]', 'the folder of the project; default: the current one')
    .option('--remove', 'trust it no longer')
    .action(
      context.ending(async (given: string | undefined, flags: { remove?: boolean }) => {
        const { runTrust } = await import('./trust.js');
        const path = given ?? currentFolder(context.folder);
        const write = (text: string): void => void context.output.write(text);
        return runTrust({ ...context, path, ...flags, write, questions: await terminalQuestions() });
      }),
    );
  add('state', 'say which machine the state directory belongs to, or make it this one’s')
    .argument('[action]', 'adopt: make it this machine’s, when no bridge runs on the other one any more')
    .action(
      context.ending(async (action?: string) => (await import('./state.js')).runState(action, context)),
    );
  add('version', 'print the version, and how to update a clone', '').action(
    context.ending(() => showVersion(context)),
  );
  addChecks(add, context);
}

function addInit(command: Command, context: CommandContext): void {
  const ids = chatClients.map(({ id }) => id).join(', ');
  const listOf = (text: string): readonly string[] => text.split(/[\s,]+/).filter((word) => word !== '');
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
    .action(context.ending((flags: InitFlags) => init(flags, context)));
}

async function init(flags: InitFlags, context: CommandContext): Promise<ExitCode> {
  const { runInit } = await import('./init/init.js');
  const { env, homeDir, command, configPath } = context;
  const write = (text: string): void => void process.stdout.write(`${text}\n`);
  const questions = await terminalQuestions();
  const exitCode = await runInit({
    ...{ env, homeDir, command, questions, write, platform: process.platform, cwd: process.cwd() },
    settingsFile:
      configPath === undefined ? defaultSettingsPath(homeDir) : resolve(expandHome(configPath, homeDir)),
    writeError: (text) => void process.stderr.write(`${text}\n`),
    serverCommand: await serverCommandFor(context, process.execPath),
    ...flags,
  });
  const isAsked = flags.yes !== true && flags.remove !== true && flags.print === undefined;
  if (exitCode !== exitCodes.done || questions === undefined || !isAsked) return exitCode;
  const { offerTrust } = await import('./trust.js');
  const line = (text: string): void => write(text.trimEnd());
  await offerTrust({ env, homeDir, configPath, write: line, questions }).catch((error: unknown) => {
    // The settings are written.
    if (!(error instanceof Cancelled)) throw error;
  });
  return exitCode;
}

async function showVersion({ serverEntry, homeDir, output }: CommandContext): Promise<ExitCode> {
  void output.write(`${VERSION}\n`);
  const root = dirname(dirname(serverEntry));
  const update = `cd ${shellWord(root, homeDir)} && git pull && npm ci && npm run build`;
  if (existsSync(join(root, '.git'))) void output.write(`This is a clone. To update it: ${update}\n`);
  return exitCodes.done;
}

/** The commands that try whether all works. */
function addChecks(
  add: (name: string, description: string, ...examples: string[]) => Command,
  context: CommandContext,
): void {
  add(
    'doctor',
    'check everything that tasks need, and name the command that mends what is wrong (exit code 0 all well, 1 warnings, 2 errors)',
    '',
    '--quick --json',
  )
    .option('--json', 'print one JSON value instead of text')
    .option('--fix', 'mend what is safe to mend, and print what was done')
    .option('--quick', 'leave out the task with a scripted model, which takes some seconds')
    .option('--rules', 'also check that Claude Code holds rules as the bridge relies on, in half a minute')
    .action(
      context.ending(async (flags: DoctorFlags) => {
        const { runDoctor } = await import('./doctor.js');
        const exitCode = await runDoctor(flags, context, untilStopped());
        // A check that hangs, such as one of a disk that is gone, must not hold the command.
        setTimeout(() => process.exit(), LEAVES_WITHIN_MS).unref();
        return exitCode;
      }),
    );
  add(
    'demo',
    'run one task with the real Claude Code and a scripted model: needs no account and touches none of your files',
    '',
    '--claude /opt/claude/bin/claude',
  )
    .option('--claude <path>', 'the claude program to use')
    .action(
      context.ending(async ({ claude }: { claude?: string }) => {
        const { runDemo } = await import('./demo/demo.js');
        const { serverEntry, env, homeDir } = context;
        const write = (text: string): void => void process.stdout.write(text);
        const given = claude !== undefined && { claude: expandHome(claude, homeDir) };
        return runDemo({ write, serverEntry, env, ...given, signal: untilStopped() });
      }),
    );
}
