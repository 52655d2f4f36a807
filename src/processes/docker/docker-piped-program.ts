import { PassThrough, type Duplex } from 'node:stream';
import { withinMs, type Clock } from '../../base/clock.js';
import type { PipedProgram } from '../../pty/piped-program.js';
import { containerExitStatus, LOST_WORDS } from './container-exit-status.js';
import { FrameSplitter } from './frame-splitter.js';

/** The engine closes the stream when all has been sent and tells the end of the container beside it, in either order. */
const OTHER_END_LIMIT_MS = 10_000;

export interface DockerPipesOptions {
  /** Both ways of the container's first program, not yet read from. */
  readonly stream: Duplex;
  /** The exit code once the container is gone; undefined when the engine went away before it could tell. Never rejects. */
  readonly gone: Promise<number | undefined>;
  /** Why SIGKILL ended the program, where that is known. Never rejects. */
  readonly whyKilled: () => Promise<string | undefined>;
  readonly clock: Clock;
}

/** The first program of a container without a terminal. It ends with the container, so nothing holds its output open longer. */
export function dockerPipedProgram({ stream, gone, whyKilled, clock }: DockerPipesOptions): PipedProgram {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const frames = new FrameSplitter();
  // While one of the two is full, neither is read: the engine stops, and the program at its pipe.
  const full = new Set<PassThrough>();
  stream.on('data', (chunk: Buffer) => {
    for (const piece of frames.split(chunk)) {
      const to = piece.stream === 'stderr' ? stderr : stdout;
      if (to.write(piece.bytes) || full.has(to)) continue;
      full.add(to);
      stream.pause();
      to.once('drain', () => {
        full.delete(to);
        if (full.size === 0) stream.resume();
      });
    }
  });
  const read = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error'] as const) stream.on(event, () => resolve());
  });
  const closing = [stdout, stderr].map(
    (one) => new Promise<void>((resolve) => one.once('close', () => resolve())),
  );
  const exited = (async () => {
    await Promise.race([read, gone]);
    const [code] = await Promise.all([
      withinMs(clock, OTHER_END_LIMIT_MS, gone),
      withinMs(clock, OTHER_END_LIMIT_MS, read),
    ]);
    if (code === undefined) stderr.write(`${LOST_WORDS}\n`);
    stream.destroy();
    stdout.end();
    stderr.end();
    return containerExitStatus(code, whyKilled);
  })();
  const closed = Promise.all([exited, ...closing]).then(() => undefined);
  return { pid: 0, stdin: stream, stdout, stderr, exited, closed };
}
