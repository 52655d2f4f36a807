import { opendirSync, readdirSync, type Dir, type Dirent } from 'node:fs';
import { opendir, readdir } from 'node:fs/promises';
import type { WalkPause } from './walk-pause.js';

/** A folder whose own size is below this has some thousand entries at most: they are read in one go. */
const SMALL_FOLDER_BYTES = 64 * 1024;
/** Entries of a large folder between two looks at the clock, or read ahead by the thread pool: a millisecond or two of work. */
const BATCH = 2_000;
/** Entries read here and now: with fewer there are more calls, with more their objects live too long to be cheap. */
const NEAR_BATCH = 64;

/** A folder to be read. */
export interface ReadFolder {
  readonly place: string;
  /** The folder's own size; undefined where it is not known. */
  readonly sizeBytes: number | undefined;
  /** True for what lies on this machine: it is read here and now. */
  readonly isNear: boolean;
  readonly pause: WalkPause;
}

/** Gives each entry of the folder to `take`, in no order. A folder of any size delays nobody. Throws system errors. */
export async function eachName(folder: ReadFolder, take: (entry: Dirent) => void): Promise<void> {
  const { place, sizeBytes, isNear, pause } = folder;
  if (sizeBytes !== undefined && sizeBytes < SMALL_FOLDER_BYTES) {
    const entries = isNear
      ? readdirSync(place, { withFileTypes: true })
      : await readdir(place, { withFileTypes: true });
    for (const entry of entries) take(entry);
    return;
  }
  const names = isNear
    ? opendirSync(place, { bufferSize: NEAR_BATCH })
    : await opendir(place, { bufferSize: BATCH });
  try {
    await drain(names, isNear, pause, take);
  } finally {
    if (isNear) names.closeSync();
    else await names.close();
  }
}

/** The first of each batch of what is not near is awaited, which fills the buffer off the event loop; the others are taken from it. */
async function drain(
  names: Dir,
  isNear: boolean,
  pause: WalkPause,
  take: (entry: Dirent) => void,
): Promise<void> {
  for (;;) {
    for (let index = 0; index < BATCH; index++) {
      const entry = index === 0 && !isNear ? await names.read() : names.readSync();
      if (entry === null) return;
      take(entry);
    }
    if (pause.isDue()) await pause.wait();
  }
}
