import { realpath } from 'node:fs/promises';
import { delimiter, isAbsolute } from 'node:path';
import { isWithin } from './path-in-project.js';

/**
 * The PATH without the folders that really lie below one of `roots`, and without relative ones: what looks for a program there would find
 * what a project brought.
 */
export async function pathOutside(path: string, roots: readonly string[]): Promise<string> {
  const kept: string[] = [];
  for (const folder of path.split(delimiter)) {
    const real = await realpath(folder).catch(() => folder);
    if (isAbsolute(folder) && !roots.some((root) => isWithin(real, root))) kept.push(folder);
  }
  return kept.join(delimiter);
}
