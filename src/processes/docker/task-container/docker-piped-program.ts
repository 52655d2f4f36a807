import { PassThrough } from 'node:stream';
import type { PipedProgram } from '../../../pty/piped-program.js';
import { attachedExit, codeBehindOutput, LOST_WORDS, type Attached } from './attached-end.js';
import { FrameSplitter } from '../engine/frame-splitter.js';

/** The first program of a container without a terminal. It ends with the container, so nothing holds its output open longer. */
export function dockerPipedProgram(attached: Attached): PipedProgram {
  const { stream } = attached;
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
  const closing = [stdout, stderr].map(
    (one) => new Promise<void>((resolve) => one.once('close', () => resolve())),
  );
  const exited = (async () => {
    const code = await codeBehindOutput(attached);
    if (code === undefined) stderr.write(`${LOST_WORDS}\n`);
    stream.destroy();
    stdout.end();
    stderr.end();
    return attachedExit(code, attached);
  })();
  const closed = Promise.all([exited, ...closing]).then(() => undefined);
  return { pid: undefined, stdin: stream, stdout, stderr, exited, closed };
}
