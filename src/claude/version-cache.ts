import { spawn } from 'node:child_process';
import { z } from 'zod';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import { endAtExit } from '../os/run-program.js';
import { signalGroupOf } from '../os/send-signals.js';
import { installationKey, parseVersion, type Installation } from './installation.js';

/** A cold start of Claude Code on a busy machine takes some seconds. */
const VERSION_LIMIT_MS = 10_000;
const MAX_OUTPUT_BYTES = 64 * 1024;
/** More installations than a person has; beyond it the oldest are evicted. */
const MAX_ENTRIES = 20;
/** Cached instead of a version: the program is not Claude Code. */
const OTHER = '';
const cacheSchema = z.record(z.string(), z.string());

/**
 * The version that the program prints now. A promise that only Claude Code can keep must not rely on a cached version: what a script, a
 * shim or the arguments start can change while the program's file stays the same.
 */
export async function printedVersion(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const output = await outputOf(command, env);
  return output === undefined ? undefined : parseVersion(output);
}

/**
 * The version of an installed CLI: asked once by `--version`, then cached in `cacheFile` while the program's file stays the same.
 * Undefined when the program does not answer like Claude Code.
 */
export async function readVersion(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  cacheFile: string,
): Promise<string | undefined> {
  return versionOf(command, env, cacheFile, false);
}

/**
 * Returns the installation with `isClaude` set by the version that it prints: a script, `npx` or `env` may run Claude Code under another
 * name, and another program may be called `claude`. A program with another name that answered without an error is cached as not Claude
 * Code.
 */
export async function recognised(
  installation: Installation,
  env: Readonly<Record<string, string>>,
  cacheFile: string,
): Promise<Installation> {
  const version = await versionOf(installation.command, env, cacheFile, !installation.isClaude);
  return { ...installation, isClaude: version !== undefined };
}

async function versionOf(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  cacheFile: string,
  cachesOthers: boolean,
): Promise<string | undefined> {
  const [program = '', ...args] = command;
  const key = [await installationKey(program), ...args].join(' ');
  const known = await readJsonFile(cacheFile, cacheSchema);
  const entries = known.state === 'ok' ? known.value : {};
  const cached = entries[key];
  if (cached !== undefined) return cached === OTHER ? undefined : cached;
  const output = await outputOf(command, env);
  const version = output === undefined ? undefined : parseVersion(output);
  if (version !== undefined || (output !== undefined && cachesOthers)) {
    const newest = Object.entries({ ...entries, [key]: version ?? OTHER }).slice(-MAX_ENTRIES);
    await writeJsonFileAtomically(cacheFile, Object.fromEntries(newest), { durable: false });
  }
  return version;
}

/**
 * The standard output of `--version`; undefined when the program fails, prints too much or takes too long. It gets no input, and all
 * processes of its group are ended with it.
 */
function outputOf(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const child = spawn(program, [...args, '--version'], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const atExit = endAtExit(child, 'SIGKILL');
  return new Promise((resolve) => {
    let output = '';
    let code: number | null = null;
    const finish = (): void => {
      clearTimeout(timer);
      signalGroupOf(child, 'SIGKILL');
      atExit.dispose();
      child.stdout.destroy();
      resolve(code === 0 ? output : undefined);
    };
    const timer = setTimeout(finish, VERSION_LIMIT_MS);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.length > MAX_OUTPUT_BYTES) finish();
    });
    child.on('exit', (exitCode) => {
      code = exitCode;
      // Remaining processes of its group may keep the pipe open.
      signalGroupOf(child, 'SIGKILL');
    });
    child.on('error', finish);
    child.on('close', finish);
  });
}
