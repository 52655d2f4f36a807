import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempFolder, tempFolderFault } from '../../base/files/folders.js';
import type { GitFolders } from './git-environment.js';
import { repositorySettingsText, userSettingsText, type GitSettings } from './git-settings.js';

/** The entries of a repository's common folder (gitrepository-layout(5)), except `config` and `hooks`. */
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

/** Temporary folders with the settings for one run of git. The caller must dispose them when git has ended. */
export interface TemporarySettings extends GitFolders {
  readonly dispose: () => Promise<void>;
}

/**
 * Creates a home folder with settings, and a folder that replaces the repository's `commonDir`: it links to its entries, but has
 * its own `config` and no hooks. Later changes of the repository's settings have no effect. Throws NOT_WRITABLE.
 */
export async function makeTemporarySettings(
  settings: GitSettings,
  commonDir: string | undefined,
): Promise<TemporarySettings> {
  const folder = await makeTempFolder('claude-code-bridge-git-');
  const dispose = (): Promise<void> => rm(folder, { recursive: true, force: true, maxRetries: 2 });
  try {
    await writeFile(join(folder, '.gitconfig'), userSettingsText(settings), { mode: 0o600 });
    const common = join(folder, 'common');
    await mkdir(common, { mode: 0o700 });
    // Without the links git finds no repository at all.
    if (commonDir !== undefined) {
      await writeFile(join(common, 'config'), repositorySettingsText(settings), { mode: 0o600 });
      await Promise.all(SHARED.map((name) => symlink(join(commonDir, name), join(common, name))));
    }
    return { home: folder, common, dispose };
  } catch (error) {
    await dispose();
    throw tempFolderFault(error);
  }
}
