import { spawn, type ChildProcess } from 'node:child_process';
import type { Disposable } from '../../base/lifecycle.js';

/** Eight times what a pipe holds when it is made, and half of what any user may make of one. */
export const WIDE_PIPE_BYTES = 512 * 1024;
/** `fcntl` of Linux that sets what a pipe holds. */
const F_SETPIPE_SZ = 1031;
/** Not one of the first three: Node would change how those are read, here too. */
const PIPE_FD = 3;
const SCRIPT = `open my $pipe, '<&=', ${PIPE_FD} or exit 1; exit !fcntl($pipe, ${F_SETPIPE_SZ}, ${WIDE_PIPE_BYTES});`;
/** It takes milliseconds. */
const LIMIT_MS = 5_000;
/** Where every system that has it keeps it; nothing of the user's environment reaches it. */
const ENV = { PATH: '/usr/bin:/bin' };

/**
 * Makes pipes hold more. With 64 KB a program and who reads it wait for each other at every step; a wider one saves most
 * of them. Node has no call for it, and Perl has: where that is missing, or the system refuses, the pipe stays as it is.
 * For floods only: of all pipes of a user the system lets so many be wide, and makes the next ones small.
 */
export class WidePipes implements Disposable {
  readonly #program: string;
  readonly #running = new Set<ChildProcess>();
  #isUnable = false;

  constructor(program = 'perl') {
    this.#program = program;
  }

  /** Widens the pipe of which `fd` is an end, and takes no bytes from it. False when it stays as it is; never rejects. */
  async widen(fd: number): Promise<boolean> {
    if (this.#isUnable) return false;
    const child = spawn(this.#program, ['-e', SCRIPT], {
      env: ENV,
      stdio: ['ignore', 'ignore', 'ignore', fd],
    });
    this.#running.add(child);
    const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
    const isWide = await new Promise<boolean>((resolve) => {
      child.once('exit', (code) => resolve(code === 0));
      child.once('error', () => {
        // No Perl: it would be the same the next time.
        this.#isUnable = true;
        resolve(false);
      });
    });
    clearTimeout(timer);
    this.#running.delete(child);
    return isWide;
  }

  dispose(): void {
    this.#isUnable = true;
    for (const child of this.#running) child.kill('SIGKILL');
  }
}
