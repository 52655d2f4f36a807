import { execFile } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Made by one run of `mkfifo`, whose start costs as much as that of a process: it is spread over thirty of them. */
const BATCH_PIPES = 64;
/** With less than a quarter left, more are made: enough for eight processes until they are there. */
const LOW_SHARE = 4;
/** `mkfifo` takes milliseconds. */
const MAKE_LIMIT_MS = 5_000;
/** Where every system that has it keeps it; nothing of the user's environment reaches it. */
const ENV = { PATH: '/usr/bin:/bin' };

/** The two ends of a pipe; who has them closes them. */
export interface Pipe {
  /** Does not wait for bytes. */
  readonly readFd: number;
  readonly writeFd: number;
}

/**
 * Real pipes for the outputs of processes. What Node calls a pipe is a pair of sockets: each piece that is printed costs more
 * there, and a program cannot open `/dev/stdout`. Node has no call that makes a pipe; a named one whose name was removed is
 * the same. Some are made ahead, and only their reading ends are held. Only on Linux, where the other end is had by /proc.
 */
export class PipeStock {
  readonly #folder: string | undefined;
  readonly #batchPipes: number;
  #readFds: number[] = [];
  #making: Promise<void> | undefined;
  #isUnable: boolean;
  #isDisposed = false;

  /** Names stand in `folder` for a moment; without one there are no pipes. So many are made at a time. */
  constructor(folder: string | undefined, batchPipes = BATCH_PIPES) {
    this.#folder = folder;
    this.#batchPipes = batchPipes;
    this.#isUnable = folder === undefined || process.platform !== 'linux';
  }

  /** Undefined where no pipes can be had: Node's own have to do. Never rejects. */
  async take(count: number): Promise<readonly Pipe[] | undefined> {
    while (this.#readFds.length < count) {
      if (this.#isUnable || this.#isDisposed) return undefined;
      await this.#make();
    }
    const taken = this.#readFds.splice(-count);
    if (this.#readFds.length < Math.floor(this.#batchPipes / LOW_SHARE) && !this.#isDisposed)
      void this.#make();
    const pipes: Pipe[] = [];
    try {
      for (const readFd of taken)
        pipes.push({ readFd, writeFd: openSync(`/proc/self/fd/${readFd}`, constants.O_WRONLY) });
      return pipes;
    } catch {
      // Too many open files, or no /proc: Node's own pipes tell the caller if there is no way at all.
      for (const { writeFd } of pipes) closeSync(writeFd);
      for (const fd of taken) closeSync(fd);
      return undefined;
    }
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.#making;
    for (const fd of this.#readFds) closeSync(fd);
    this.#readFds = [];
  }

  #make(): Promise<void> {
    return (this.#making ??= this.#makeBatch().finally(() => (this.#making = undefined)));
  }

  async #makeBatch(): Promise<void> {
    let folder: string | undefined;
    try {
      folder = await mkdtemp(join(this.#folder ?? '', 'pipes-'));
      const names = Array.from({ length: this.#batchPipes }, (_, index) => String(index));
      const options = { cwd: folder, env: ENV, timeout: MAKE_LIMIT_MS };
      await promisify(execFile)('mkfifo', ['-m', '600', ...names], options);
      for (const name of names)
        this.#readFds.push(openSync(join(folder, name), constants.O_RDONLY | constants.O_NONBLOCK));
    } catch {
      // No mkfifo, a folder that takes none, too many open files: it would be the same the next time.
      this.#isUnable = true;
    } finally {
      if (folder !== undefined) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }
  }
}
