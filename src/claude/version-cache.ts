import { spawn } from 'node:child_process';
import { z } from 'zod';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import { signalGroupOf } from '../os/send-signals.js';
import { installationKey, parseVersion, type Installation } from './installation.js';

/** A cold start of Claude Code on a busy machine takes some seconds. */
const VERSION_LIMIT_MS = 10_000;
const MAX_OUTPUT_BYTES = 64 * 1024;
/** More installations than a person has; the oldest are forgotten. */
const MAX_ENTRIES = 20;
/** In the place of a version: the program is not Claude Code. */
const OTHER = '';
const cacheSchema = z.record(z.string(), z.string());

/**
 * The version that the program prints now. Where something is promised that Claude Code alone can keep, no cached answer will
 * do: what a script, a shim or the arguments start changes while the program's file stays the same.
 */
export async function printedVersion(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const output = await outputOf(command, env);
  return output === undefined ? undefined : parseVersion(output);
}

/**
 * The version of an installed CLI: asked once by `--version`, then remembered in `cacheFile` for as long as the
 * program's file stays the same. Undefined when the program does not answer as Claude Code does.
 */
export async function readVersion(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  cacheFile: string,
): Promise<string | undefined> {
  return versionOf(command, env, cacheFile, false);
}

/**
 * The installation, with `isClaude` as the version says that it prints: a script, `npx` or `env` may run Claude Code under
 * another name, and another program may be called `claude`. That a program of another name is not Claude Code is remembered
 * when it answered without an error.
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
  remembersOthers: boolean,
): Promise<string | undefined> {
  const [program = '', ...args] = command;
  const key = [await installationKey(program), ...args].join(' ');
  const known = await readJsonFile(cacheFile, cacheSchema);
  const entries = known.state === 'ok' ? known.value : {};
  const remembered = entries[key];
  if (remembered !== undefined) return remembered === OTHER ? undefined : remembered;
  const output = await outputOf(command, env);
  const version = output === undefined ? undefined : parseVersion(output);
  if (version !== undefined || (output !== undefined && remembersOthers)) {
    const kept = Object.entries({ ...entries, [key]: version ?? OTHER }).slice(-MAX_ENTRIES);
    await writeJsonFileAtomically(cacheFile, Object.fromEntries(kept), { durable: false });
  }
  return version;
}

/**
 * Standard output of `--version`; undefined when the program fails, prints much or takes too long. It reads nothing, and what
 * it started in its process group ends with it.
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
  return new Promise((resolve) => {
    let output = '';
    let code: number | null = null;
    const settle = (): void => {
      clearTimeout(timer);
      signalGroupOf(child, 'SIGKILL');
      child.stdout.destroy();
      resolve(code === 0 ? output : undefined);
    };
    const timer = setTimeout(settle, VERSION_LIMIT_MS);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.length > MAX_OUTPUT_BYTES) settle();
    });
    child.on('exit', (exitCode) => {
      code = exitCode;
      // What is left of its group may hold the pipe open.
      signalGroupOf(child, 'SIGKILL');
    });
    child.on('error', settle);
    child.on('close', settle);
  });
}
