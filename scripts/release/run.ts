import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const LIMIT_MS = 300_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** The output of a program. Rejects with its stderr when it fails, or takes longer than five minutes. */
export async function run(program: string, args: readonly string[], cwd: string): Promise<string> {
  const options = { cwd, timeout: LIMIT_MS, maxBuffer: MAX_OUTPUT_BYTES };
  const { stdout } = await promisify(execFile)(program, [...args], options);
  return stdout;
}
