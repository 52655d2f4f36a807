import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { pidOf, type Pid } from '../../os/pid.js';
import type { ProcessSpec } from '../process-handle.js';
import { openPipes, type Pipe } from './named-pipes.js';

/** A program with three pipes. */
export interface PipedChild {
  readonly child: ChildProcess;
  /** Without one nothing was started, and the child's `error` event says why. */
  readonly pid: Pid | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

/** Starts a program on pipes: real ones on Linux, if they can be made in `pipeFolder`, else those of Node. Throws what `spawn` throws. */
export async function startPiped(
  spec: ProcessSpec,
  program: string,
  pipeFolder: string | undefined,
): Promise<PipedChild> {
  if (pipeFolder !== undefined && process.platform === 'linux') {
    // No mkfifo, a folder that takes none, too many open files: Node's own pipes do, or say what is wrong.
    const pipes = await openPipes(pipeFolder).catch(() => undefined);
    if (pipes !== undefined) return startOn(pipes, spec, program);
  }
  const child = spawn(program, spec.command.slice(1), { ...optionsOf(spec), stdio: 'pipe' });
  const { stdin, stdout, stderr } = child;
  return { child, pid: pidOf(child.pid), stdin, stdout, stderr };
}

function startOn([stdout, stderr]: readonly [Pipe, Pipe], spec: ProcessSpec, program: string): PipedChild {
  const outputs = { stdout: stdout.output, stderr: stderr.output };
  let pid: Pid | undefined;
  try {
    const child = spawn(program, spec.command.slice(1), {
      ...optionsOf(spec),
      stdio: ['pipe', stdout.writeFd, stderr.writeFd],
    });
    pid = pidOf(child.pid);
    const { stdin } = child;
    if (stdin === null) throw new Error('Node made no pipe where one was asked for.');
    return { child, pid, stdin, ...outputs };
  } finally {
    closeSync(stdout.writeFd);
    closeSync(stderr.writeFd);
    if (pid === undefined) for (const output of Object.values(outputs)) output.destroy();
  }
}

function optionsOf({ command, cwd, env }: ProcessSpec) {
  // A session and a group of its own: a signal reaches all of it, and none of the server's reaches it.
  return { cwd, env, detached: true, argv0: command[0] };
}
