import { mkdir, writeFile } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { BridgeError } from '../../base/errors.js';
import { HOOK_TOKEN_VARIABLE } from '../../claude/hooks/hook-settings.js';
import { sessionKeys } from '../../pty/child-env.js';
import { findProgram } from '../../pty/find-program.js';
import { gitMaskLines, quoted, type GitMasks } from './git-masks.js';

/** Claude Code runs its commands with this program if its path contains `bash` or `zsh` (2.1.197, 2.1.330). */
const SHELL_VARIABLE = 'CLAUDE_CODE_SHELL';
const SHELLS: ReadonlySet<string> = new Set(['bash', 'zsh']);
const OWNER_ONLY = 0o700;

/**
 * Writes a program that removes the session's keys from its environment and then becomes the shell. Resolves with the environment
 * by which Claude Code runs its commands with that program; it is empty when there is no shell that Claude Code could use. `folder` is
 * created, for the owner alone. `masks`: those of the sandbox, if commands run in one.
 */
export async function commandShell(
  folder: string,
  env: Readonly<Record<string, string>>,
  passEnvironment: readonly string[],
  masks?: GitMasks,
): Promise<Record<string, string>> {
  const shell = await shellOf(env);
  if (shell === undefined) return {};
  const names = [HOOK_TOKEN_VARIABLE, SHELL_VARIABLE, ...sessionKeys(env, passEnvironment)];
  const path = join(folder, basename(shell));
  await mkdir(folder, { recursive: true, mode: OWNER_ONLY });
  const maskLines = masks === undefined ? '' : gitMaskLines(masks);
  const text = `#!/bin/sh\nunset ${names.join(' ')}\n${maskLines}exec ${quoted(shell)} "$@"\n`;
  await writeFile(path, text, { mode: OWNER_ONLY });
  return { [SHELL_VARIABLE]: path };
}

/** The shell that Claude Code would choose: the user's own if it is one of the two, else zsh before bash. */
async function shellOf(env: Readonly<Record<string, string>>): Promise<string | undefined> {
  const own = [env[SHELL_VARIABLE], env['SHELL']].filter(
    (path) => path !== undefined && isAbsolute(path) && SHELLS.has(basename(path)),
  );
  const PATH = `${env['PATH'] ?? ''}:/bin:/usr/bin:/usr/local/bin:/opt/homebrew/bin`;
  for (const name of [...own, 'zsh', 'bash']) {
    const found = await findProgram(name ?? '', '/', { PATH }).catch(noneThere);
    if (found !== undefined) return found;
  }
  return undefined;
}

function noneThere(error: unknown): undefined {
  if (!(error instanceof BridgeError)) throw error;
}
