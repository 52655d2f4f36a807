import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { serverEntry } from './start-bridge.js';

/** How a command has ended, and what it said. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly input?: string;
  /** Gets all that the command has said on standard error so far. */
  readonly onSaid?: ((err: string) => void) | undefined;
}

/** Runs a command of the built program without a terminal. */
export async function runCommand(
  words: readonly string[],
  { cwd, env, input = '', onSaid }: RunOptions,
): Promise<Ended> {
  const child = spawn(process.execPath, [serverEntry, ...words], { cwd, env, stdio: 'pipe' });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.stdin.end(input);
  let said = '';
  child.stderr.on('data', (part: Buffer) => onSaid?.((said += part.toString())));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { code, out, err };
}
