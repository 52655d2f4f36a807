import { execFile } from 'node:child_process';
import { z } from 'zod';
import { readJsonFile, writeJsonFileAtomically } from '../base/json-file.js';
import { installationKey, parseVersion, type Installation } from './installation.js';

const VERSION_LIMIT_MS = 10_000;
/** More installations than a person has; the oldest are forgotten. */
const MAX_ENTRIES = 20;
const cacheSchema = z.record(z.string(), z.string());

/**
 * The version of an installed CLI: asked once by `--version`, then remembered in `cacheFile` for as long as the
 * program's file stays the same. Undefined when the program does not answer as Claude Code does.
 */
export async function readVersion(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  cacheFile: string,
): Promise<string | undefined> {
  const [program = '', ...args] = command;
  const key = [await installationKey(program), ...args].join(' ');
  const known = await readJsonFile(cacheFile, cacheSchema);
  const entries = known.state === 'ok' ? known.value : {};
  const remembered = entries[key];
  if (remembered !== undefined) return remembered;
  const version = parseVersion(await outputOf(program, [...args, '--version'], env));
  if (version !== undefined) {
    const kept = Object.fromEntries(Object.entries({ ...entries, [key]: version }).slice(-MAX_ENTRIES));
    await writeJsonFileAtomically(cacheFile, kept, { durable: false });
  }
  return version;
}

/**
 * The installation, with `isClaude` as the version says that it prints: a script, `npx` or `env` may run Claude Code under
 * another name, and another program may be called `claude`.
 */
export async function recognised(
  installation: Installation,
  env: Readonly<Record<string, string>>,
  cacheFile: string,
): Promise<Installation> {
  const isClaude = (await readVersion(installation.command, env, cacheFile)) !== undefined;
  return { ...installation, isClaude };
}

/** Standard output, or nothing when the program fails or takes too long: it then simply has no known version. */
function outputOf(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  return new Promise((resolve) => {
    execFile(
      program,
      [...args],
      { env, timeout: VERSION_LIMIT_MS, maxBuffer: 64 * 1024, killSignal: 'SIGKILL' },
      (fault, stdout) => resolve(fault === null ? stdout : ''),
    ).stdin?.end();
  });
}
