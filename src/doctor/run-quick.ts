import { runProgram } from '../os/run-program.js';

/** Programs that answer in milliseconds, on a busy machine. */
const LIMIT_MS = 8_000;
const MAX_OUTPUT_BYTES = 256 * 1024;

export type ProgramAnswer =
  | {
      readonly how: 'exited';
      readonly code: number;
      /** Its first 256 KiB. */
      readonly stdout: string;
      readonly stderr: string;
    }
  | { readonly how: 'missing' }
  /** It was ended, or took too long. */
  | { readonly how: 'failed'; readonly why: string };

/** Runs a program that should answer at once, without input. Rejects when `signal` aborts. */
export async function runQuick(call: {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}): Promise<ProgramAnswer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const end = await runProgram({ ...call, cwd: '/', timeLimitMs: LIMIT_MS }, (chunk) => {
    if (length < MAX_OUTPUT_BYTES) chunks.push(chunk);
    length += chunk.length;
  });
  const stdout = Buffer.concat(chunks).toString('utf8');
  if (end.how === 'exited') return { how: 'exited', code: end.code, stdout, stderr: end.stderr };
  if (end.how === 'missing') return { how: 'missing' };
  if (end.how === 'killed') return { how: 'failed', why: `it was ended by ${end.signal}` };
  return { how: 'failed', why: `it did not answer within ${LIMIT_MS / 1000} s` };
}
