import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { dockerEnv } from './docker-engine.js';

/** An engine that hangs must not hold a run for ever. */
const LIMIT_MS = 60_000;

/**
 * The output of the program `docker`, which reads `stdin` when a file is given. Rejects with its stderr when it fails, or takes
 * longer than a minute.
 */
export async function docker(args: readonly string[], stdin?: string): Promise<string> {
  const env = dockerProgramEnv();
  let child: ReturnType<typeof execFile> | undefined;
  const output = new Promise<string>((resolve, reject) => {
    child = execFile('docker', [...args], { env, timeout: LIMIT_MS }, (error, stdout, stderr) => {
      if (error) reject(new Error(`docker ${args[0] ?? ''} failed: ${stderr || error.message}`));
      else resolve(stdout.trim());
    });
  });
  // Of a program that ended early its own words count, not those of the pipe.
  if (stdin !== undefined && child?.stdin)
    await pipeline(createReadStream(stdin), child.stdin).catch(() => undefined);
  return output;
}

/** What `docker` needs of this machine, and how it reaches the engine. */
export function dockerProgramEnv(): Record<string, string> {
  const { PATH = '', HOME = '/' } = process.env;
  return { PATH, HOME, ...dockerEnv() };
}
