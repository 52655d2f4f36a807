import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { systemCodeOf } from '../base/errors.js';
import { makeFifos } from '../os/make-fifo.js';
import { LIFE_VARIABLE } from '../os/mark-variable.js';
import type { Child, SpawnOptions } from './child.js';
import { PipedChild } from './piped-child.js';

export interface PipedSpawnOptions extends SpawnOptions {
  /** The file to run, where it is not the first word of the command. */
  readonly program?: string;
  /** A folder for us alone, where real pipes have their names for a moment; without one Node's own are used. */
  readonly pipeFolder?: string | undefined;
}

/** Starts a program of this machine on pipes: real ones on Linux if they can be made, else those of Node. Throws what the system says. */
export async function spawnPiped({ pipeFolder, ...options }: PipedSpawnOptions): Promise<Child> {
  const [name = '', ...args] = options.command;
  const { program = name, cwd, env, sink } = options;
  const life = openLife(env[LIFE_VARIABLE]);
  // No mkfifo, a folder that takes none, too many open files: Node's own pipes do, or say what is wrong.
  const isReal = pipeFolder !== undefined && process.platform === 'linux';
  const [out, err] = isReal ? await openPipes(pipeFolder).catch(() => []) : [];
  try {
    const child = spawn(program, args, {
      cwd,
      env: { ...env },
      argv0: name,
      // A session and a group of its own: a signal reaches all of it, and none of ours reaches it.
      detached: true,
      stdio: ['pipe', out?.writeFd ?? 'pipe', err?.writeFd ?? 'pipe', ...(life === undefined ? [] : [life])],
    });
    const stdout = out?.output ?? child.stdout;
    const stderr = err?.output ?? child.stderr;
    if (child.stdin === null || stdout === null || stderr === null)
      throw new Error('Node made no pipe where one was asked for.');
    // Before anything is awaited, so that no output and no end is missed.
    const piped = new PipedChild({ child, stdin: child.stdin, stdout, stderr, sink });
    await once(child, 'spawn');
    return piped;
  } catch (error) {
    out?.output.destroy();
    err?.output.destroy();
    throw error;
  } finally {
    for (const fd of [life, out?.writeFd, err?.writeFd]) if (fd !== undefined) closeSync(fd);
  }
}

/** The child inherits it; undefined without one, and where it was removed. Throws any other error of the system. */
function openLife(path: string | undefined): number | undefined {
  if (path === undefined) return undefined;
  try {
    return openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** A pipe to this process. */
interface Pipe {
  readonly output: Readable;
  /** Belongs to the caller, who closes it when the child has it. */
  readonly writeFd: number;
}

/**
 * Two real pipes, for stdout and stderr of one child. What Node calls a pipe is a pair of sockets, and on Linux a program cannot
 * open `/dev/stdout` when that is a socket. Node has no call for a pipe: these are named ones, whose names in `folder` are
 * removed at once. Throws what the system says, with nothing left open.
 */
async function openPipes(folder: string): Promise<readonly Pipe[]> {
  const names = await mkdtemp(join(folder, 'pipes-'));
  const pipes: Pipe[] = [];
  try {
    const paths = ['stdout', 'stderr'].map((name) => join(names, name));
    await makeFifos(...paths);
    for (const path of paths) pipes.push(openPipe(path));
    return pipes;
  } catch (error) {
    for (const { output, writeFd } of pipes) {
      output.destroy();
      closeSync(writeFd);
    }
    throw error;
  } finally {
    await rm(names, { recursive: true, force: true });
  }
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
