import { Duplex, PassThrough } from 'node:stream';
import type { EngineClient } from './docker-engine.js';
import { FrameSplitter } from './frame-splitter.js';

/** A program of its own in a running container. */
export interface OpenExec {
  /** Takes its stdin; ends with the program. */
  readonly stream: Duplex;
  /** Its stdout, whole from the first byte on. What it complains about is nobody's business. */
  readonly stdout: PassThrough;
}

/** Starts a program beside the first one of a container, as the same user; throws what the engine says. */
export async function openExec(
  client: EngineClient,
  containerId: string,
  command: readonly string[],
): Promise<OpenExec> {
  const exec = await client.getContainer(containerId).exec({
    Cmd: [...command],
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
  });
  const stream = asDuplex(await exec.start({ hijack: true, stdin: true }));
  const stdout = new PassThrough();
  const frames = new FrameSplitter();
  stream.on('data', (chunk: Buffer) => {
    for (const piece of frames.split(chunk)) if (piece.stream === 'stdout') stdout.write(piece.bytes);
  });
  return { stream, stdout };
}

/** The engine's client declares less than it gives. */
export function asDuplex(stream: NodeJS.ReadWriteStream): Duplex {
  if (stream instanceof Duplex) return stream;
  throw new Error('the client of the Docker engine gave a stream that is none');
}
