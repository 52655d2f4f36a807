import { fstatSync, opendirSync, readdirSync, type Dir, type Dirent } from 'node:fs';
import { opendir, readdir } from 'node:fs/promises';
import type { WalkPause } from './walk-pause.js';

/** A folder whose own size is below this has some thousand entries at most: they are read in one go. */
const SMALL_FOLDER_BYTES = 64 * 1024;
/** Entries of a large folder between two looks at the clock, or read ahead by the thread pool: a millisecond or two of work. */
const BATCH = 2_000;
/** Entries read here and now: with fewer there are more calls, with more their objects live too long to be cheap. */
const NEAR_BATCH = 64;

/** A folder whose names are wanted. */
export interface NamedFolder {
  readonly place: string;
  readonly fd: number | undefined;
  /** The device known to be one of this machine's own, as `stat` tells it: what lies there is read here and now. */
  readonly nearDev: number | undefined;
  readonly pause: WalkPause;
}

/** Gives each entry of the folder to `take`, in no order. A folder of any size delays nobody. Throws system errors. */
export async function eachName(folder: NamedFolder, take: (entry: Dirent) => void): Promise<void> {
  const { place, fd, nearDev, pause } = folder;
  const stats = fd === undefined ? undefined : fstatSync(fd);
  const isSmall = stats !== undefined && stats.size < SMALL_FOLDER_BYTES;
  const isNear = stats !== undefined && stats.dev === nearDev;
  if (isSmall) {
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
