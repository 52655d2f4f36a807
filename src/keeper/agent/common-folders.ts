import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { COMMON_FOLDER } from '../../approvals/sandbox-paths.js';
import { systemCodeOf } from '../../base/errors.js';

export interface CommonFoldersOptions {
  readonly gitFolders: readonly string[];
  readonly taskId: string;
  /** In it, tasks note which repositories they use. */
  readonly notesFolder: string;
  /** True for a task that may still run; the notes of others are removed. */
  readonly mayRun: (taskId: string) => Promise<boolean>;
}

/**
 * The file `commondir` of a repository names a folder whose config git uses instead of the repository's own. A sandbox can
 * protect only a file that exists, so this creates one that names the repository itself. The last task that uses it removes it.
 */
export class CommonFolders {
  readonly #options: CommonFoldersOptions;

  constructor(options: CommonFoldersOptions) {
    this.#options = options;
  }

  /** Called before each command, since another task may just have removed the file. */
  async hold(): Promise<void> {
    const { gitFolders, taskId } = this.#options;
    for (const gitFolder of gitFolders) {
      const notes = this.#notesOf(gitFolder);
      await mkdir(notes, { recursive: true, mode: 0o700 });
      await writeFile(join(notes, taskId), '');
      try {
        await writeFile(join(gitFolder, COMMON_FOLDER), OWN_FOLDER, { flag: 'wx' });
        // Only a file that a task created is removed in the end.
        await writeFile(join(notes, MADE), '');
      } catch (error) {
        // The file exists, or the folder is not a repository.
        const code = systemCodeOf(error);
        if (code !== 'EEXIST' && code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
      }
    }
  }

  async release(): Promise<void> {
    for (const gitFolder of this.#options.gitFolders) {
      const notes = this.#notesOf(gitFolder);
      await rm(join(notes, this.#options.taskId), { force: true });
      const names = await namesIn(notes);
      const tasks = names.filter((name) => name !== MADE);
      const running = await Promise.all(tasks.map((taskId) => this.#isHeldBy(notes, taskId)));
      if (running.includes(true)) continue;
      if (names.includes(MADE)) await rm(join(gitFolder, COMMON_FOLDER), { force: true });
      await rm(join(notes, MADE), { force: true });
      // Another task may have begun to use it.
      await rmdir(notes).catch(unlessBusy);
    }
  }

  async #isHeldBy(notes: string, taskId: string): Promise<boolean> {
    if (await this.#options.mayRun(taskId)) return true;
    await rm(join(notes, taskId), { force: true });
    return false;
  }

  #notesOf(gitFolder: string): string {
    return join(this.#options.notesFolder, createHash('sha256').update(gitFolder).digest('hex').slice(0, 32));
  }
}

const OWN_FOLDER = '.\n';
const MADE = 'made';

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
    return [];
  }
}

function unlessBusy(error: unknown): void {
  const code = systemCodeOf(error);
  if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOENT') throw error;
}
