import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { pidOf, type Pid } from '../../os/pid.js';
import type { ProcessSpec } from '../process-handle.js';
import { fifoSource, READ_BUFFER_BYTES } from './fifo-source.js';
import type { OpenSource } from './output-source.js';
import { PipeReader } from './pipe-reader.js';
import { PipeStock, type Pipe } from './pipe-stock.js';
import { streamSource } from './stream-source.js';
import { WidePipes } from './wide-pipes.js';

/** A program with three pipes. Its outputs are read when they are opened. */
export interface PipedChild {
  readonly child: ChildProcess;
  /** Without one nothing was started, and the child tells why in its `error` event. */
  readonly pid: Pid | undefined;
  readonly stdin: Writable;
  readonly outputs: Readonly<Record<'stdout' | 'stderr', OpenSource>>;
}

/** Starts programs behind pipes: real ones where they can be had, else those that Node makes. */
export class PipedChildren {
  readonly #pipes: PipeStock;
  readonly #reader = new PipeReader();
  readonly #wide = new WidePipes();
  #readBuffer: Buffer | undefined;

  /** Both as in PipeStock. */
  constructor(pipeFolder: string | undefined, batchPipes: number | undefined) {
    this.#pipes = new PipeStock(pipeFolder, batchPipes);
  }

  /** Throws what `spawn` of Node throws. */
  async start(spec: ProcessSpec, program: string): Promise<PipedChild> {
    const [stdout, stderr] = (await this.#pipes.take(2)) ?? [];
    return stdout === undefined || stderr === undefined
      ? this.#startWithSockets(spec, program)
      : this.#startWithPipes(spec, program, stdout, stderr);
  }

  dispose(): Promise<void> {
    this.#wide.dispose();
    return this.#pipes.dispose();
  }

  #startWithPipes(spec: ProcessSpec, program: string, stdout: Pipe, stderr: Pipe): PipedChild {
    let pid: Pid | undefined;
    try {
      const [, ...args] = spec.command;
      const stdio = ['pipe', stdout.writeFd, stderr.writeFd] as const;
      const child = spawn(program, args, { ...optionsOf(spec), stdio: [...stdio] });
      pid = pidOf(child.pid);
      const { stdin } = child;
      if (stdin === null) throw new Error('Node made no pipe where one was asked for.');
      const buffer = (this.#readBuffer ??= Buffer.allocUnsafeSlow(READ_BUFFER_BYTES));
      const widen = (fd: number): void => void this.#wide.widen(fd);
      const outputs = {
        stdout: fifoSource(stdout.readFd, buffer, widen),
        stderr: fifoSource(stderr.readFd, buffer, widen),
      };
      return { child, pid, stdin, outputs };
    } finally {
      for (const { writeFd } of [stdout, stderr]) closeSync(writeFd);
      if (pid === undefined) for (const { readFd } of [stdout, stderr]) closeSync(readFd);
    }
  }

  #startWithSockets(spec: ProcessSpec, program: string): PipedChild {
    const [, ...args] = spec.command;
    const child = spawn(program, args, { ...optionsOf(spec), stdio: 'pipe' });
    const outputs = {
      stdout: streamSource(child.stdout, this.#reader),
      stderr: streamSource(child.stderr, this.#reader),
    };
    return { child, pid: pidOf(child.pid), stdin: child.stdin, outputs };
  }
}

function optionsOf({ command, cwd, env }: ProcessSpec) {
  // A session and a group of its own: a signal reaches all of it, and none of the server's reaches it.
  return { cwd, env, detached: true, argv0: command[0] };
}
