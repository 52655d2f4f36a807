import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { systemCodeOf } from '../base/errors.js';
import { LIFE_VARIABLE } from '../os/mark-variable.js';
import type { Child, SpawnOptions } from './child.js';
import { openPipes, type Pipe } from './named-pipes.js';
import { PipedChild } from './piped-child.js';

export interface PipedSpawnOptions extends SpawnOptions {
  /** The file to run, where it is not the first word of the command. */
  readonly program?: string;
  /** A folder for us alone, where real pipes have their names for a moment; without one Node's own are used. */
  readonly pipeFolder?: string | undefined;
}

/** Starts a program of this machine on pipes: real ones on Linux if they can be made, else those of Node. Throws what the system says. */
export async function spawnPiped(options: PipedSpawnOptions): Promise<Child> {
  const { pipeFolder } = options;
  if (pipeFolder === undefined || process.platform !== 'linux') return start(options);
  // No mkfifo, a folder that takes none, too many open files: Node's own pipes do, or say what is wrong.
  const pipes = await openPipes(pipeFolder).catch(() => undefined);
  return start(options, pipes);
}

async function start(options: PipedSpawnOptions, pipes?: readonly [Pipe, Pipe]): Promise<Child> {
  const [name = '', ...args] = options.command;
  const { program = name, cwd, env, sink } = options;
  const life = openLife(env[LIFE_VARIABLE]);
  let isStarted = false;
  try {
    const child = spawn(program, args, {
      cwd,
      env: { ...env },
      argv0: name,
      // A session and a group of its own: a signal reaches all of it, and none of ours reaches it.
      detached: true,
      stdio: [
        'pipe',
        pipes?.[0].writeFd ?? 'pipe',
        pipes?.[1].writeFd ?? 'pipe',
        ...(life === undefined ? [] : [life]),
      ],
    });
    const stdout = pipes?.[0].output ?? child.stdout;
    const stderr = pipes?.[1].output ?? child.stderr;
    const { stdin } = child;
    if (stdin === null || stdout === null || stderr === null)
      throw new Error('Node made no pipe where one was asked for.');
    // Before anything is awaited, so that no output and no end is missed.
    const piped = new PipedChild({ child, stdin, stdout, stderr, sink });
    await once(child, 'spawn');
    isStarted = true;
    return piped;
  } finally {
    if (life !== undefined) closeSync(life);
    for (const pipe of pipes ?? []) {
      closeSync(pipe.writeFd);
      if (!isStarted) pipe.output.destroy();
    }
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
