import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A new folder beside what is built, on the same disk: a program that runs from the last build loses nothing while this one is made. */
export function folderBeside(root) {
  mkdirSync(join(root, '.cache'), { recursive: true });
  return mkdtempSync(join(root, '.cache', 'build-'));
}

/** Puts the built folder in its place at once, and removes what was there. */
export function swapFolder(built, place) {
  const old = `${built}-old`;
  chmodSync(built, 0o755);
  if (existsSync(place)) renameSync(place, old);
  renameSync(built, place);
  rmSync(old, { recursive: true, force: true });
}
