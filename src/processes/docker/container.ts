import { Duplex, PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type Dockerode from 'dockerode';
import { pack, type Pack } from 'tar-stream';
import { z } from 'zod';
import { ignoreBridgeError } from '../../base/errors.js';
import { FrameSplitter } from './attached-output.js';
import { refusalStatus, type DockerEngine } from './engine.js';

/** What the small commands of the bridge print is less; a hostile image must not fill the memory. */
const MAX_PRINTED_BYTES = 1024 * 1024;
const RUN_LIMIT_MS = 10_000;
/** The engine's answers about a container that is not there, and one that does not run or is being removed. */
export const NOT_THERE = 404;
const NOT_IN_THIS_STATE = 409;

const stateSchema = z.object({
  Running: z.boolean(),
  OOMKilled: z.boolean().default(false),
  ExitCode: z.int(),
  Error: z.string().default(''),
});
export type ContainerState = z.infer<typeof stateSchema>;

const responseSchema = z.object({ headers: z.record(z.string(), z.unknown()) });
const pathStatSchema = z.object({ mode: z.number(), linkTarget: z.string().default('') });

/** A program of its own in a running container. */
export interface OpenExec {
  /** Takes its stdin; ends with the program. */
  readonly stream: Duplex;
  /** Its stdout, whole from the first byte on. What it complains about is not read. */
  readonly stdout: PassThrough;
  readonly exitCode: () => Promise<number>;
}

/** True for the error of an engine whose container has ended or is gone. */
export function isEnded(error: unknown): boolean {
  const status = refusalStatus(error);
  return status === NOT_THERE || status === NOT_IN_THIS_STATE;
}

/** One container. Its methods throw as `DockerEngine.call`. */
export class Container {
  readonly id: string;
  readonly engine: DockerEngine;

  constructor(engine: DockerEngine, id: string) {
    this.engine = engine;
    this.id = id;
  }

  /** Has the engine make one. */
  static async create(
    engine: DockerEngine,
    what: string,
    options: Dockerode.ContainerCreateOptions,
  ): Promise<Container> {
    const made = await engine.call(what, (client, abortSignal) =>
      client.createContainer({ ...options, abortSignal }),
    );
    return new Container(engine, made.id);
  }

  /** Asks the engine about this container. */
  ask<T>(
    what: string,
    ask: (container: Dockerode.Container, abortSignal: AbortSignal) => Promise<T>,
    limitMs?: number,
  ): Promise<T> {
    return this.engine.call(what, (client, signal) => ask(client.getContainer(this.id), signal), limitMs);
  }

  async state(): Promise<ContainerState> {
    const asked = this.ask('the state of a container', (one, abortSignal) => one.inspect({ abortSignal }));
    return stateSchema.parse((await asked).State);
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    await this.ask(`the signal ${signal}`, (one, abortSignal) => one.kill({ signal, abortSignal }));
  }

  /** Ends what runs in it and removes it with its unnamed volumes; true when it is gone. */
  async remove(): Promise<boolean> {
    return this.ask('to remove a container', (one, abortSignal) =>
      one.remove({ force: true, v: true, abortSignal }),
    ).then(
      () => true,
      (error: unknown) => {
        ignoreBridgeError(error);
        return isEnded(error);
      },
    );
  }

  /** Puts one entry into a folder of it. */
  async put(folder: string, header: Parameters<Pack['entry']>[0], content?: Buffer): Promise<void> {
    const archive = pack();
    if (content === undefined) archive.entry(header);
    else archive.entry(header, content);
    archive.finalize();
    const body = await buffer(archive);
    await this.ask(`to take ${header.name}`, (one, abortSignal) =>
      one.putArchive(body, { path: folder, abortSignal }),
    );
  }

  /** What there is at a path of it: the bits of Go's `fs.FileMode`. Refused with NOT_THERE when there is nothing. */
  pathStat(path: string): Promise<z.infer<typeof pathStatSchema>> {
    return this.ask('to look at a path', async (one, abortSignal) => {
      const response: unknown = await one.infoArchive({ path, abortSignal });
      // An answer without a body, which has to be read all the same.
      if (response instanceof Readable) response.resume();
      const { headers } = responseSchema.parse(response);
      const encoded = z.string().parse(headers['x-docker-container-path-stat']);
      return pathStatSchema.parse(JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')));
    });
  }

  /** Starts a program beside the first one, as the same user. */
  exec(command: readonly string[]): Promise<OpenExec> {
    return this.ask('to run a program in a container', (one, signal) => openExec(one, command, signal));
  }

  /**
   * Runs a short program beside the first one, and within its limits, to its end. A program that is not there, or a container
   * at its limit of processes, gives an exit code above 125 or a refusal.
   */
  run(
    command: readonly string[],
    limitMs = RUN_LIMIT_MS,
  ): Promise<{ readonly exitCode: number; readonly stdout: string }> {
    const run = async (one: Dockerode.Container, abortSignal: AbortSignal) => {
      const { stream, stdout, exitCode } = await openExec(one, command, abortSignal);
      abortSignal.addEventListener('abort', () => stream.destroy(), { once: true });
      let text = '';
      for await (const chunk of stdout.setEncoding('utf8')) {
        text += String(chunk);
        if (text.length > MAX_PRINTED_BYTES) break;
      }
      stream.destroy();
      return { exitCode: await exitCode(), stdout: text };
    };
    return this.ask('to run a program in a container', run, limitMs);
  }
}

async function openExec(
  container: Dockerode.Container,
  command: readonly string[],
  abortSignal: AbortSignal,
): Promise<OpenExec> {
  const attached = { AttachStdin: true, AttachStdout: true, AttachStderr: true };
  const exec = await container.exec({ Cmd: [...command], ...attached, abortSignal });
  const stream = asDuplex(await exec.start({ hijack: true, stdin: true, abortSignal }));
  const stdout = new PassThrough();
  const frames = new FrameSplitter();
  stream.on('data', (chunk: Buffer) => {
    for (const piece of frames.split(chunk)) if (piece.stream === 'stdout') stdout.write(piece.bytes);
  });
  // Cut or whole: what waits for the end asks for the exit code.
  for (const event of ['error', 'end', 'close'] as const) stream.on(event, () => void stdout.end());
  return { stream, stdout, exitCode: async () => (await exec.inspect({ abortSignal })).ExitCode ?? 0 };
}

/** The engine's client declares less than it gives. */
export function asDuplex(stream: NodeJS.ReadWriteStream): Duplex {
  if (stream instanceof Duplex) return stream;
  throw new Error('The client of the Docker engine gave a stream that is none.');
}
