import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import type { InCamelCase } from '../../mcp/tool.js';
import { defineTool, MAX_WAIT_SECONDS, requestIdInput, someText, within } from '../define-tool.js';
import { shownOutput, sizeInput, stateOutput, stateView } from './process-fields.js';

const MAX_VARIABLES = 200;
/** The usual size of a terminal, with room for wide tables. */
const DEFAULT_SIZE = { columns: 120, rows: 40 };
const SHELL = '/bin/sh';

const text = z.string().max(100_000);
const name = someText(255);

const input = {
  command: text.min(1).describe('Program; with shell: a command line'),
  args: z.array(text).max(1_000).optional(),
  shell: z.boolean().default(false).describe(`Run command with ${SHELL}`),
  cwd: z.string().optional().describe('Default: the active project'),
  env: z.record(z.string(), text).optional(),
  tty: z.union([z.boolean(), sizeInput]).default(false).describe('Real terminal, for interactive programs'),
  background: z.boolean().default(false).describe('Do not wait'),
  timeout_seconds: within(1, 60).default(10),
  mode: z.enum(['host', 'docker']).optional().describe('Default: a setting, host unless changed'),
  keep: z.boolean().default(false).describe('Outlives this server'),
  image: name.optional().describe('Docker only, like the next three; default: a setting'),
  network: name.optional().describe('Such as bridge; default none'),
  volume: name.optional().describe('Volume for /home/agent; it outlives the process and can be reused'),
  mount_project: someText(4_096)
    .optional()
    .describe('Folder to mount read-only at /project; "." is the active project'),
  request_id: requestIdInput,
};
type Arguments = InCamelCase<z.output<z.ZodObject<typeof input>>>;

export const spawn = defineTool({
  name: 'spawn',
  title: 'Start a process',
  effect: 'destroy',
  openWorld: true,
  searchHint: 'run a command, server or REPL in the background',
  description:
    'Run a program: a build, a server, a REPL, an editor. Waits up to timeout_seconds for it to end; then it runs in the background: use stdout, stdin, ps, kill. Ends with this server unless keep.',
  input,
  output: { ...stateOutput, ...shownOutput, note: z.string().optional() },
  handle: async (args, services, call) => {
    const processes = await services.processes();
    const mode = args.mode ?? processes.defaultMode;
    const { command, shell, tty, background, cwd, env = {}, keep } = args;
    refuseWrong(args, mode);
    const words: [string, ...string[]] = shell ? [SHELL, '-c', command] : [command, ...(args.args ?? [])];
    const waitSeconds = background ? 0 : Math.min(args.timeoutSeconds, MAX_WAIT_SECONDS);
    const { image, network, volume, mountProject, requestId } = args;
    const { record, isBackground, ...shown } = await processes.spawn(
      {
        mode,
        command: words,
        commandLine: shell ? command : words.join(' '),
        cwd,
        env,
        ...(tty !== false && { tty: tty === true ? DEFAULT_SIZE : tty }),
        keep,
        requestId,
        ...(image !== undefined && { image }),
        ...(network !== undefined && { network }),
        ...(volume !== undefined && { volume }),
        ...(mountProject !== undefined && { mountProject }),
      },
      waitSeconds * 1_000,
      call.signal,
    );
    const note =
      waitSeconds === 0
        ? 'It runs in the background.'
        : `It did not end within ${waitSeconds} s and goes on in the background.`;
    return { ...stateView(record), ...shown, ...(isBackground && { note }) };
  },
});

/** Throws INVALID_ARGUMENTS for what no program can be given, and for arguments that mean nothing in the mode. */
function refuseWrong(args: Arguments, mode: 'host' | 'docker'): void {
  const { command, args: words = [], shell, env = {}, image, network, volume, mountProject } = args;
  const refuse = (message: string, hint: string) => new BridgeError('INVALID_ARGUMENTS', message, hint);
  if (shell && words.length > 0) {
    throw refuse(
      'shell and args cannot be combined: a shell takes one command line.',
      'Put the whole command line in command, or omit shell.',
    );
  }
  if ([command, ...words, ...Object.entries(env).flat()].some((word) => word.includes('\0')))
    throw refuse('The command or env contains a NUL character.', 'Remove it.');
  const names = Object.keys(env);
  const wrong = names.find((variable) => variable === '' || variable.includes('='));
  if (wrong !== undefined || names.length > MAX_VARIABLES) {
    throw refuse(
      wrong === undefined
        ? `env has ${names.length} variables; at most ${MAX_VARIABLES} are taken.`
        : `env names a variable ${JSON.stringify(wrong)}, and no variable can be called so.`,
      'Correct env and call again.',
    );
  }
  const docker = { image, network, volume, mount_project: mountProject };
  const forDocker = Object.entries(docker).flatMap(([key, value]) => (value === undefined ? [] : [key]));
  if (mode === 'host' && forDocker.length > 0) {
    throw refuse(
      `${forDocker.join(', ')} can be used only with mode "docker".`,
      'Set mode to "docker", or omit these arguments.',
    );
  }
}
