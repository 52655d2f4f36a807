import { mkdtemp, realpath, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killMarked } from '../../tests/harness/marked-processes.js';

/** The largest fixtures and recordings of tests that run at the same time, with room to spare. */
const NEEDED_BYTES = 1024 ** 3;

const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * The temp folder of a run, which all that the run starts carries in its environment. It owns these processes: it ends them, those
 * that left their process group, too, when it is removed or when the run is interrupted.
 */
export class RunFolder {
  readonly path: string;
  readonly #groups = new Set<number>();
  /** After an interrupt nothing is started any more. */
  isOver = false;

  private constructor(path: string) {
    this.path = path;
    for (const [signal, code] of Object.entries(signals))
      process.once(signal, () => void this.remove().finally(() => process.exit(code)));
  }

  /** Throws in one sentence when the temp folder cannot be used or has less than 1 GiB. */
  static async make(): Promise<RunFolder> {
    const parent = tmpdir();
    const advice = 'Free some, or set TMPDIR to another folder.';
    try {
      const { bavail, bsize } = await statfs(parent);
      if (bavail * bsize < NEEDED_BYTES)
        throw new Error(
          `check needs 1 GiB in the temp folder ${parent}, which has ${Math.floor((bavail * bsize) / 1024 ** 2)} MiB. ${advice}`,
        );
      // A short name: paths of sockets have about 100 characters.
      return new RunFolder(await realpath(await mkdtemp(join(parent, 's-'))));
    } catch (error) {
      if (error instanceof Error && 'code' in error)
        throw new Error(`check cannot use the temp folder ${parent} (${String(error.code)}). ${advice}`, {
          cause: error,
        });
      throw error;
    }
  }

  /** The process group `pid` belongs to the run until `forget`. */
  own(pid: number): void {
    this.#groups.add(pid);
  }

  forget(pid: number): void {
    this.#groups.delete(pid);
  }

  async remove(): Promise<void> {
    this.isOver = true;
    for (const pid of this.#groups)
      try {
        process.kill(-pid, 'SIGKILL');
      } catch {
        // It has just ended.
      }
    await killMarked(this.path);
    await rm(this.path, { recursive: true, force: true, maxRetries: 5 });
  }
}
