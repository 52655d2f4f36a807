import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import type { SpawnOutcome } from '../../processes/process-service.js';
import { defineTool } from '../define-tool.js';
import { dockerInput, dockerOptions } from './docker-fields.js';
import { shownOutput, stateOutput, stateView } from './process-fields.js';

const DEFAULT_TIMEOUT_SECONDS = 10;
const MAX_TIMEOUT_SECONDS = 60;
/** Clients cut calls at 60 s: every call of this server is answered before. */
const MAX_WAIT_SECONDS = 45;
const MAX_COMMAND_CHARS = 100_000;
const MAX_ARGUMENTS = 1_000;
const MAX_VARIABLES = 200;
const MAX_COLUMNS = 500;
const MAX_ROWS = 200;
/** The usual size of a terminal, with room for wide tables. */
const DEFAULT_SIZE = { columns: 120, rows: 40 };
const SHELL = '/bin/sh';

const text = z.string().max(MAX_COMMAND_CHARS);

export const spawn = defineTool({
  name: 'spawn',
  title: 'Start a process',
  toolset: 'process',
  effect: 'destroy',
  openWorld: true,
  searchHint: 'run a command, server or REPL in the background',
  description:
    'Run a program: a build, a server, a REPL, an editor. Waits up to timeout_seconds for it to end; then it runs in the background: use stdout, stdin, ps, kill. Ends with this server unless keep.',
  input: {
    command: text.min(1).describe('Program; with shell: a command line'),
    args: z.array(text).max(MAX_ARGUMENTS).optional(),
    shell: z.boolean().default(false).describe(`Run command with ${SHELL}`),
    cwd: z.string().optional().describe('Default: the active project'),
    env: z.record(z.string(), text).optional(),
    tty: z
      .union([
        z.boolean(),
        z.strictObject({ columns: z.int().min(1).max(MAX_COLUMNS), rows: z.int().min(1).max(MAX_ROWS) }),
      ])
      .default(false)
      .describe('Real terminal, for interactive programs'),
    background: z.boolean().default(false).describe('Do not wait'),
    timeout_seconds: z.int().min(1).max(MAX_TIMEOUT_SECONDS).default(DEFAULT_TIMEOUT_SECONDS),
    mode: z.enum(['host', 'docker']).optional().describe('Default: a setting, host unless changed'),
    keep: z.boolean().default(false).describe('Outlives this server'),
    ...dockerInput,
  },
  output: { ...stateOutput, ...shownOutput, note: z.string().optional() },
  handle: async (args, services, call) => {
    const processes = await services.processes();
    const mode = args.mode ?? processes.defaultMode;
    const { command, shell, tty, background, timeout_seconds: timeoutSeconds, env = {} } = args;
    checkWords(args);
    const words = shell ? [SHELL, '-c', command] : [command, ...(args.args ?? [])];
    const [program = command, ...rest] = words;
    const waitSeconds = background ? 0 : Math.min(timeoutSeconds, MAX_WAIT_SECONDS);
    const outcome = await processes.spawn(
      {
        mode,
        command: [program, ...rest],
        commandLine: shell ? command : words.join(' '),
        cwd: args.cwd,
        env,
        ...(tty !== false && { tty: tty === true ? DEFAULT_SIZE : tty }),
        keep: args.keep,
        ...dockerOptions({ ...args, mode }),
      },
      waitSeconds * 1_000,
      call.signal,
    );
    const { record, isBackground: _isBackground, ...shown } = outcome;
    return { ...stateView(record), ...shown, ...noteOf(outcome, waitSeconds) };
  },
});

function checkWords({
  command,
  args = [],
  shell,
  env = {},
}: {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly shell: boolean;
  readonly env?: Readonly<Record<string, string>> | undefined;
}): void {
  const refuse = (message: string, hint: string) => new BridgeError('INVALID_ARGUMENTS', message, hint);
  if (shell && args.length > 0) {
    throw refuse(
      'shell and args cannot be combined: a shell takes one command line.',
      'Put the whole command line in command, or omit shell.',
    );
  }
  if ([command, ...args, ...Object.entries(env).flat()].some((word) => word.includes('\0')))
    throw refuse('The command or env contains a NUL character.', 'Remove it.');
  const names = Object.keys(env);
  const wrong = names.find((name) => name === '' || name.includes('='));
  if (wrong !== undefined || names.length > MAX_VARIABLES) {
    throw refuse(
      wrong === undefined
        ? `env has ${names.length} variables; at most ${MAX_VARIABLES} are taken.`
        : `env names a variable ${JSON.stringify(wrong)}, and no variable can be called so.`,
      'Correct env and call again.',
    );
  }
}

function noteOf({ isBackground }: SpawnOutcome, waitSeconds: number): { note?: string } {
  if (!isBackground) return {};
  const note =
    waitSeconds === 0
      ? 'It runs in the background.'
      : `It did not end within ${waitSeconds} s and goes on in the background.`;
  return { note };
}
