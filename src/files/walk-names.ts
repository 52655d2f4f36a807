import { fstatSync, type Dir, type Dirent } from 'node:fs';
import { opendir, readdir } from 'node:fs/promises';
import type { WalkPause } from './walk-pause.js';

/** A folder whose own size is below this has some thousand entries at most: they are read in one go. */
const SMALL_FOLDER_BYTES = 64 * 1024;
/** Entries read ahead from a large folder: a millisecond of work. More of them would outlive a collection of garbage. */
const BATCH = 1_000;

/** Gives each entry of the folder at `place` to `take`, in no order. A folder of any size delays nobody. Throws system errors. */
export async function eachName(
  place: string,
  fd: number | undefined,
  pause: WalkPause,
  take: (entry: Dirent) => void,
): Promise<void> {
  if (fd !== undefined && fstatSync(fd).size < SMALL_FOLDER_BYTES) {
    for (const entry of await readdir(place, { withFileTypes: true })) take(entry);
    return;
  }
  const folder = await opendir(place, { bufferSize: BATCH });
  try {
    await drain(folder, pause, take);
  } finally {
    await folder.close();
  }
}

/** The first of each batch is awaited, which fills the buffer off the event loop; the others are taken from it. */
async function drain(folder: Dir, pause: WalkPause, take: (entry: Dirent) => void): Promise<void> {
  for (;;) {
    for (let index = 0; index < BATCH; index++) {
      const entry = index === 0 ? await folder.read() : folder.readSync();
      if (entry === null) return;
      take(entry);
    }
    if (pause.isDue()) await pause.wait();
  }
}
