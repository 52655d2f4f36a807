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
