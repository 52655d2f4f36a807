import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A new folder beside what is built, on the same disk: a program that runs from the last build loses nothing while this one is made. */
export function folderBeside(root) {
  const cache = join(root, '.cache');
  mkdirSync(cache, { recursive: true });
  return mkdtempSync(join(cache, 'build-'));
}

/** Puts the built folder in its place at once, and removes what was there. */
export function swapFolder(built, place) {
  const old = `${built}-old`;
  mkdirSync(dirname(place), { recursive: true });
  try {
    renameSync(place, old);
  } catch (error) {
    // There is no earlier build.
    if (error.code !== 'ENOENT') throw error;
  }
  renameSync(built, place);
  rmSync(old, { recursive: true, force: true });
}
