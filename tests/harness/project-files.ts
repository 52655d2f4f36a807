import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Writes the files, by their paths in the folder, with the folders above them. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

/** Runs git in the folder as a person called T; its output. Throws when git fails. */
export function gitIn(folder: string, ...words: readonly string[]): string {
  return execFileSync('git', ['-C', folder, '-c', 'user.name=T', '-c', 'user.email=t@t.invalid', ...words], {
    encoding: 'utf8',
    stdio: 'pipe',
  });
}

/** Makes a repository of the folder, with these files in its first commit. */
export async function repository(
  folder: string,
  files: Readonly<Record<string, string>> = { 'a.txt': 'one\n' },
): Promise<void> {
  await writeFiles(folder, files);
  gitIn(folder, 'init', '--quiet', '--initial-branch', 'main');
  gitIn(folder, 'add', '.');
  gitIn(folder, 'commit', '--quiet', '--allow-empty', '-m', 'first');
}
