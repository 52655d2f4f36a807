import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { messageOf } from '../../src/base/errors.js';

const LIMIT_MS = 300_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** The output of a program. Rejects with what it said when it fails, or takes longer than five minutes. */
export async function run(program: string, args: readonly string[], cwd: string): Promise<string> {
  const options = { cwd, timeout: LIMIT_MS, maxBuffer: MAX_OUTPUT_BYTES };
  try {
    return (await promisify(execFile)(program, [...args], options)).stdout;
  } catch (error) {
    throw new Error(messageOf(error) + said(error), { cause: error });
  }
}

/** What `npm --silent --json` writes of its failure; the message holds stderr. */
function said(error: unknown): string {
  return error instanceof Error && 'stdout' in error && typeof error.stdout === 'string'
    ? `\n${error.stdout}`
    : '';
}
