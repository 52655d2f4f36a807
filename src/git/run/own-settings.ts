import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GitFolders } from './git-environment.js';
import { repositorySettingsText, userSettingsText, type GitSettings } from './git-settings.js';

/**
 * What git takes from the folder that a repository shares among its working trees (gitrepository-layout(5)), but for `config`
 * and `hooks`. References are not among it: git finds them from the repository's own folder.
 */
const SHARED: readonly string[] = [
  'HEAD',
  'info',
  'logs',
  'objects',
  'packed-refs',
  'refs',
  'reftable',
  'shallow',
  'worktrees',
];

/** Folders with the settings for one run of git. They belong to the caller, who disposes them when git has ended. */
export interface OwnSettings extends GitFolders {
  readonly dispose: () => Promise<void>;
}

/**
 * Makes a home with settings, and a folder that stands for the repository's `commonDir`: all of that by links, but a `config`
 * of its own, and no hooks. What is written into the repository's settings from now on has no effect. Throws the system's
 * errors.
 */
export async function makeOwnSettings(
  settings: GitSettings,
  commonDir: string | undefined,
): Promise<OwnSettings> {
  const folder = await mkdtemp(join(tmpdir(), 'claude-code-bridge-git-'));
  const dispose = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 2 });
  try {
    await writeFile(join(folder, '.gitconfig'), userSettingsText(settings), { mode: 0o600 });
    const common = join(folder, 'common');
    await mkdir(common, { mode: 0o700 });
    // Without links git takes nothing for a repository, whatever is there.
    if (commonDir !== undefined) {
      await writeFile(join(common, 'config'), repositorySettingsText(settings), { mode: 0o600 });
      await Promise.all(SHARED.map((name) => symlink(join(commonDir, name), join(common, name))));
    }
    return { home: folder, common, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
