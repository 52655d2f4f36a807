import { fstatSync } from 'node:fs';
import { systemCodeOf } from '../base/errors.js';
import type { FolderNames, KeptNames } from './kept-names.js';
import { isHidden } from './list-order.js';
import { typeOf, walkEntry, type WalkEntry } from './walk-entry.js';
import { eachName } from './walk-names.js';
import type { WalkPause } from './walk-pause.js';

/** A folder whose names are wanted. */
export interface NamedFolder {
  readonly place: string;
  readonly fd: number | undefined;
  /** The device known to be one of this machine's own, as `stat` tells it: what lies there is read here and now. */
  readonly nearDev: number | undefined;
  readonly pause: WalkPause;
}

/** The names in a folder, or the system's code when they cannot be read. */
export async function namesIn(
  { place, fd, nearDev, pause }: NamedFolder,
  kept: KeptNames,
): Promise<FolderNames | { readonly fault: string }> {
  try {
    const stats = fd === undefined ? undefined : fstatSync(fd);
    // Of another machine's file system the times are another clock's.
    const near = stats?.dev === nearDev ? stats : undefined;
    const known = near === undefined ? undefined : kept.of(near);
    if (known !== undefined) return known;
    const isSettled = near !== undefined && kept.isSettled(near);
    const read = { entries: new Array<WalkEntry>(), isOrdered: false, isRepository: false, hasTrap: false };
    await eachName({ place, sizeBytes: stats?.size, isNear: near !== undefined, pause }, (entry) => {
      const { name } = entry;
      if (name.startsWith('.')) {
        if (name === '.git') read.isRepository = true;
        if (name === '.gitignore') read.hasTrap = typeOf(entry) === 'other';
        if (isHidden(name)) return;
      }
      read.entries.push(walkEntry(entry));
    });
    if (isSettled) kept.keep(near, read);
    return read;
  } catch (thrown) {
    const fault = systemCodeOf(thrown);
    if (fault === undefined) throw thrown;
    return { fault };
  }
}
