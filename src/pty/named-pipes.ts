import { execFile } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

/** `mkfifo` takes milliseconds. */
const MAKE_LIMIT_MS = 5_000;
/** Where every system that has it keeps it; nothing of the user's environment reaches it. */
const ENV = { PATH: '/usr/bin:/bin' };

/** A pipe to this process. */
export interface Pipe {
  readonly output: Readable;
  /** Belongs to the caller, who closes it when the child has it. */
  readonly writeFd: number;
}

/**
 * Two real pipes, for stdout and stderr of one child. What Node calls a pipe is a pair of sockets, and on Linux a program cannot
 * open `/dev/stdout` when that is a socket. Node has no call for a pipe: these are named ones, whose names in `folder` are
 * removed at once. Throws what the system says, with nothing left open.
 */
export async function openPipes(folder: string): Promise<readonly [Pipe, Pipe]> {
  const names = await mkdtemp(join(folder, 'pipes-'));
  try {
    const options = { cwd: names, env: ENV, timeout: MAKE_LIMIT_MS };
    await promisify(execFile)('mkfifo', ['-m', '600', 'stdout', 'stderr'], options);
    const stdout = openPipe(join(names, 'stdout'));
    try {
      return [stdout, openPipe(join(names, 'stderr'))];
    } catch (error) {
      closePipe(stdout);
      throw error;
    }
  } finally {
    await rm(names, { recursive: true, force: true });
  }
}

function closePipe({ output, writeFd }: Pipe): void {
  output.destroy();
  closeSync(writeFd);
}

function openPipe(path: string): Pipe {
  // The reading end first: a writing end waits for one.
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const writeFd = openSync(path, constants.O_WRONLY);
    return { output: new Socket({ fd: readFd, readable: true, writable: false }), writeFd };
  } catch (error) {
    closeSync(readFd);
    throw error;
  }
}
