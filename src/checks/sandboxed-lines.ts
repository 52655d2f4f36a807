import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { writeJsonFileAtomically } from '../base/files/json-file.js';
import { oneLine, shellWord } from '../base/text.js';
import { findRipgrep } from '../os/find-ripgrep.js';
import type { Sandbox } from './run-command.js';

const PACKAGE = '@anthropic-ai/sandbox-runtime';
/** The program itself exits with 0 or 1, also where nothing ran (0.0.78): these codes of a command are moved, and then say that it ran. */
const MOVED = 200;
const INSIDE = `c=$?; case $c in 0|1) exit $((${MOVED} + c));; ${MOVED}|${MOVED + 1}) exit ${MOVED + 2};; *) exit $c;; esac`;
const SHOWN_CHARS = 200;

/** What commands of a task may reach; Claude Code's settings name the same. */
export const sandboxRulesSchema = z.object({
  network: z.object({ allowedDomains: z.array(z.string()) }),
  filesystem: z.object({
    allowWrite: z.array(z.string()),
    denyWrite: z.array(z.string()),
    denyRead: z.array(z.string()),
  }),
});
export type SandboxRules = z.infer<typeof sandboxRulesSchema>;

/** Where the rules of a task's sandbox are, in its folder; what is written there is read again for a clean copy. */
export function sandboxRulesFile(taskDir: string): string {
  return join(taskDir, 'sandbox.json');
}

/** Runs words in the sandbox of Claude Code, by these rules, which are written into `file`. Where it cannot, nothing runs. */
export async function sandboxOf(
  { network, filesystem }: SandboxRules,
  file: string,
  path: string | undefined,
): Promise<Sandbox> {
  const program = runtimeProgram();
  // It searches the project for what must not be written; a program of the project is not used for that.
  const command = await findRipgrep(path, filesystem.allowWrite);
  await writeJsonFileAtomically(file, {
    network: { ...network, deniedDomains: [], strictAllowlist: true },
    filesystem,
    ...(command !== undefined && { ripgrep: { command } }),
  });
  return {
    words: (inside) => {
      if (program === undefined) throw new Error(`no sandbox: the package ${PACKAGE} is not installed`);
      const line = `${inside.map((word) => shellWord(word, '/')).join(' ')}; ${INSIDE}`;
      return [process.execPath, program, '--settings', file, '-c', line];
    },
    codeOf: (code, output) => {
      if (code > 1) return code === MOVED || code === MOVED + 1 ? code - MOVED : code;
      throw new Error(`no sandbox: ${oneLine(output.trimEnd().split('\n').at(-1) ?? '', SHOWN_CHARS)}`);
    },
  };
}

/** The command `srt` of the package, which is optional. */
function runtimeProgram(): string | undefined {
  try {
    const program = join(dirname(createRequire(import.meta.url).resolve(PACKAGE)), 'cli.js');
    return existsSync(program) ? program : undefined;
  } catch {
    // It is not installed.
    return undefined;
  }
}
