import { z } from 'zod';
import { BridgeError, messageOf } from '../../base/errors.js';
import { oneLine } from '../../base/text/text.js';
import { runProgram, type ProgramEnd } from '../../os/run-program.js';

/** Claude Code passes on a larger prompt too late, or not at all. */
const MAX_PROMPT_BYTES = 256 * 1024;
/** From 128 KB on a prompt takes 15 s. */
const LAUNCH_LIMIT_MS = 30_000;
const COMMAND_LIMIT_MS = 15_000;
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const SHOWN_CHARS = 300;
/** Lines of `claude --bg` that are no errors. */
const PROGRESS = /^(Starting background service|warning:)/;

/** How the commands of Claude Code about background sessions are run. It is stored on disk, so it holds no keys. */
export const backgroundPlaceSchema = z.object({
  command: z.array(z.string()).min(1),
  cwd: z.string(),
  env: z.record(z.string(), z.string()),
});
export type BackgroundPlace = z.infer<typeof backgroundPlaceSchema>;

const entrySchema = z.looseObject({
  /** Missing for a session that runs in a terminal. */
  id: z.string().optional(),
  /** Missing while no process runs. */
  pid: z.int().positive().optional(),
  sessionId: z.string().optional(),
  name: z.string().optional(),
  /** `idle`, `busy` or `waiting`, while a process runs. */
  status: z.string().optional(),
  /** `working`, `blocked`, `stopped`, `failed` and others. */
  state: z.string().optional(),
});

/** A background session, as `claude agents --json` lists it. */
export type BackgroundEntry = z.infer<typeof entrySchema> & { readonly id: string };

/** The commands of Claude Code about background sessions. */
export class BackgroundCli {
  readonly #place: BackgroundPlace;

  constructor(place: BackgroundPlace) {
    this.#place = place;
  }

  /**
   * Starts a session with the prompt as its first message. The shell around the command has the `own` variables, so that recovery finds
   * it by the mark when the keeper is killed meanwhile; the command has not. Throws TASK_START_FAILED with the words of Claude Code.
   */
  async launch(
    args: readonly string[],
    prompt: string,
    own: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const input = Buffer.from(prompt);
    if (input.length > MAX_PROMPT_BYTES) {
      throw new BridgeError(
        'TASK_START_FAILED',
        `The prompt has ${input.length} bytes, and Claude Code takes ${MAX_PROMPT_BYTES} for a background session.`,
        'Write it into a file of the project and name that, or use the driver interactive.',
      );
    }
    const shell = ['/bin/sh', '-c', withoutVariables(Object.keys(own)), 'claude-code-bridge'];
    const { command, cwd, env } = this.#place;
    const around = new BackgroundCli({ command: [...shell, ...command], cwd, env: { ...env, ...own } });
    const { end, output } = await around.#run(['--bg', ...args], LAUNCH_LIMIT_MS, { cwd, input });
    if (end.how === 'exited' && end.code === 0) return;
    throw new BridgeError(
      'TASK_START_FAILED',
      `Claude Code did not start a background session: ${wordsOf(end, output)}`,
      'Do what it says, or use the driver interactive.',
    );
  }

  /** All background sessions, ended ones included. Throws TASK_START_FAILED when Claude Code does not list them. */
  async list(): Promise<BackgroundEntry[]> {
    const { end, output } = await this.#run(['agents', '--json', '--all'], COMMAND_LIMIT_MS);
    const entries = z.array(entrySchema).safeParse(parseJson(output));
    if (entries.success) return entries.data.filter(isInBackground);
    throw new BridgeError(
      'TASK_START_FAILED',
      `Claude Code did not list its background sessions: ${wordsOf(end, output)}`,
      'Use the driver interactive.',
    );
  }

  /** False when Claude Code refused. */
  async stop(id: string): Promise<boolean> {
    return succeeded((await this.#run(['stop', id], COMMAND_LIMIT_MS)).end);
  }

  /** Removes a stopped session from the list. False when Claude Code refused. */
  async remove(id: string): Promise<boolean> {
    return succeeded((await this.#run(['rm', id], COMMAND_LIMIT_MS)).end);
  }

  async #run(
    args: readonly string[],
    timeLimitMs: number,
    // The project may be gone when its session is ended.
    { cwd = '/', input }: { readonly cwd?: string; readonly input?: Uint8Array } = {},
  ): Promise<{ readonly end: ProgramEnd; readonly output: string }> {
    const { command, env } = this.#place;
    const [program = '', ...before] = command;
    const chunks: Buffer[] = [];
    let bytes = 0;
    const call = {
      program,
      args: [...before, ...args],
      cwd,
      env,
      signal: new AbortController().signal,
      timeLimitMs,
      ...(input !== undefined && { input }),
    };
    const end = await runProgram(call, (chunk) => {
      bytes += chunk.length;
      if (bytes <= MAX_OUTPUT_BYTES) chunks.push(Buffer.from(chunk));
    });
    return { end, output: Buffer.concat(chunks).toString('utf8') };
  }
}

/** The text of a shell that runs its arguments, in a child without these variables. */
function withoutVariables(names: readonly string[]): string {
  return `${names.length === 0 ? '' : `unset ${names.join(' ')}; `}"$@"; exit "$?"`;
}

function isInBackground(entry: z.infer<typeof entrySchema>): entry is BackgroundEntry {
  return entry.id !== undefined;
}

function succeeded(end: ProgramEnd): boolean {
  return end.how === 'exited' && end.code === 0;
}

function wordsOf(end: ProgramEnd, output: string): string {
  if (end.how === 'too-slow') return 'it took too long.';
  if (end.how === 'missing') return 'the program was not found.';
  const text = 'stderr' in end ? `${end.stderr}\n${output}` : output;
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !PROGRESS.test(line));
  const shown = oneLine(lines.join(' '), SHOWN_CHARS);
  if (shown !== '') return shown;
  return end.how === 'exited' ? `it exited with code ${end.code}.` : 'it was killed.';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return messageOf(error);
  }
}
