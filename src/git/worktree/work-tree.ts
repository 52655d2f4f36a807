import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BridgeError } from '../../base/errors.js';
import { NulFields } from '../nul-fields.js';
import type { GitRunner } from '../run/run-git.js';

/** Limit for names in memory; a repository of a million files has about 60 MB of them. */
const MAX_BYTES = 200_000_000;
/** `check-ignore` refuses the literal pathspecs that all other commands use. */
const IS_FOLDER_IGNORED = ['--no-literal-pathspecs', 'check-ignore', '--no-index', '-q', '.'];

/** The part of a repository's working tree that is in one folder. */
export interface WorkTree {
  /** The names that `git ls-files` prints, relative to the folder. Throws GIT_FAILED. */
  files(...args: readonly string[]): Promise<Set<string>>;
  /** True when an ignore rule matches the folder or one above it. Tracked files in it are not ignored. Throws GIT_FAILED. */
  isIgnored(): Promise<boolean>;
}

/** The working tree that contains the folder `cwd`; undefined outside a repository or without git. Throws GIT_FAILED. */
export async function workTreeAt(
  runner: GitRunner,
  cwd: string,
  signal: AbortSignal,
): Promise<WorkTree | undefined> {
  try {
    const [commonDir, settings] = await Promise.all([
      runner.commonDir({ cwd, signal }),
      runner.settings({ cwd, signal }),
    ]);
    if (commonDir === undefined) return undefined;
    const files: WorkTree['files'] = async (...args) => {
      const names = new Set<string>();
      let bytes = 0;
      const fields = new NulFields((name) => names.add(name.toString('utf8')));
      await runner.stream(
        { cwd, signal, settings, commonDir, args: ['ls-files', '-z', ...args] },
        (chunk) => {
          bytes += chunk.length;
          if (bytes > MAX_BYTES) throw tooMany();
          fields.push(chunk);
        },
      );
      fields.end();
      return names;
    };
    const isIgnored = async (): Promise<boolean> => {
      // No rule matches the top of a working tree.
      if (existsSync(join(cwd, '.git'))) return false;
      const call = { cwd, signal, settings, commonDir, args: IS_FOLDER_IGNORED, okCodes: [0, 1] };
      return (await runner.stream(call, () => undefined)) === 0;
    };
    return { files, isIgnored };
  } catch (thrown) {
    if (thrown instanceof BridgeError && thrown.code === 'GIT_NOT_FOUND') return undefined;
    throw thrown;
  }
}

function tooMany(): BridgeError {
  return new BridgeError(
    'GIT_FAILED',
    `git listed more than ${MAX_BYTES} bytes of names.`,
    'Ask for a smaller folder with path.',
  );
}
