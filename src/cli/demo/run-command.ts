import { spawn } from 'node:child_process';
import { tailChars } from '../../base/text/text.js';

/** Of each stream: what a person needs to see why a command failed. */
const KEPT_CHARS = 64 * 1024;

export interface CommandResult {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Runs a program to its end, without input; returns the end of its output. Rejects when it cannot be started or `signal` aborts. */
export function runCommand(command: readonly string[], options: CommandOptions): Promise<CommandResult> {
  const [program = '', ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: { ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: options.timeoutMs,
      killSignal: 'SIGKILL',
      signal: options.signal,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout = tailChars(stdout + text, KEPT_CHARS);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = tailChars(stderr + text, KEPT_CHARS);
    });
    child.once('error', reject);
    child.once('close', (exitCode) => resolve({ exitCode, stdout, stderr }));
  });
}
