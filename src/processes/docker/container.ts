import { Duplex, PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pack, type Pack } from 'tar-stream';
import { z } from 'zod';
import type { Clock } from '../../base/clock.js';
import { FrameSplitter } from './attached-output.js';
import type { DockerEngine, EngineAnswer, EngineClient } from './engine/docker-engine.js';

/** Starting a container on a machine that is busy with twenty of them. */
const START_LIMIT_MS = 60_000;
/** What the small commands of the bridge print is less; a hostile image must not fill the memory. */
const MAX_PRINTED_BYTES = 1024 * 1024;
const RUN_LIMIT_MS = 10_000;
const STATE_LIMIT_MS = 5_000;
/** 409: it is being removed already. */
const GONE_STATUSES = new Set([404, 409]);

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

export interface Printed {
  readonly exitCode: number;
  readonly stdout: string;
}

/** One container that was made: what its engine is asked about it. Answers say what the engine refused; nothing is thrown. */
export class Container {
  readonly id: string;
  readonly clock: Clock;
  readonly #engine: DockerEngine;

  constructor(engine: DockerEngine, id: string, clock: Clock) {
    this.#engine = engine;
    this.id = id;
    this.clock = clock;
  }

  /** Asks the engine about this container, as `DockerEngine.call`. */
  ask<T>(
    ask: (container: ReturnType<EngineClient['getContainer']>, abortSignal: AbortSignal) => Promise<T>,
    limitMs?: number,
  ): Promise<EngineAnswer<T>> {
    return this.#engine.call((client, signal) => ask(client.getContainer(this.id), signal), limitMs);
  }

  /** Both directions of its first process. Before the start, so that the first byte is not missed. */
  attach(): Promise<EngineAnswer<Duplex>> {
    const all = { stream: true, hijack: true, stdin: true, stdout: true, stderr: true };
    return this.ask(async (one, abortSignal) => {
      const stream = asDuplex(await one.attach({ ...all, abortSignal }));
      // A cut connection; what waits for the end reports why.
      return stream.on('error', () => undefined);
    });
  }

  start(): Promise<EngineAnswer<unknown>> {
    return this.ask((one, abortSignal) => one.start({ abortSignal }), START_LIMIT_MS);
  }

  state(): Promise<EngineAnswer<ContainerState>> {
    return this.ask(
      async (one, abortSignal) => stateSchema.parse((await one.inspect({ abortSignal })).State),
      STATE_LIMIT_MS,
    );
  }

  signal(name: NodeJS.Signals): Promise<EngineAnswer<unknown>> {
    return this.ask((one, abortSignal) => one.kill({ signal: name, abortSignal }));
  }

  resize({ columns, rows }: { readonly columns: number; readonly rows: number }) {
    return this.ask((one, abortSignal) => one.resize({ w: columns, h: rows, abortSignal }));
  }

  /** Ends what runs in it and removes it with its unnamed volumes; true when it is gone. */
  async remove(): Promise<boolean> {
    const answer = await this.ask((one, abortSignal) => one.remove({ force: true, v: true, abortSignal }));
    return answer.kind === 'value' || (answer.kind === 'refused' && GONE_STATUSES.has(answer.status));
  }

  /** Puts one entry into a folder of it. */
  async put(
    folder: string,
    header: Parameters<Pack['entry']>[0],
    content?: Buffer,
  ): Promise<EngineAnswer<unknown>> {
    const archive = pack();
    if (content === undefined) archive.entry(header);
    else archive.entry(header, content);
    archive.finalize();
    const body = await buffer(archive);
    return this.ask((one, abortSignal) => one.putArchive(body, { path: folder, abortSignal }));
  }

  /** What there is at a path of it: the bits of Go's `fs.FileMode`. Refused with 404 when there is nothing. */
  pathStat(path: string): Promise<EngineAnswer<z.infer<typeof pathStatSchema>>> {
    return this.ask(async (one, abortSignal) => {
      const response: unknown = await one.infoArchive({ path, abortSignal });
      // An answer without a body, which has to be read all the same.
      if (response instanceof Readable) response.resume();
      const { headers } = responseSchema.parse(response);
      const encoded = z.string().parse(headers['x-docker-container-path-stat']);
      return pathStatSchema.parse(JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')));
    });
  }

  /** Starts a program beside the first one, as the same user. */
  exec(command: readonly string[]): Promise<EngineAnswer<OpenExec>> {
    return this.ask((one, abortSignal) => openExec(one, command, abortSignal));
  }

  /**
   * Runs a short program beside the first one, and within its limits, to its end. A program that is not there, or a container
   * at its limit of processes, gives an exit code above 125 or a refusal.
   */
  run(command: readonly string[], limitMs = RUN_LIMIT_MS): Promise<EngineAnswer<Printed>> {
    return this.ask(async (one, abortSignal) => {
      const { stream, stdout, exitCode } = await openExec(one, command, abortSignal);
      const chunks: Buffer[] = [];
      let bytes = 0;
      await new Promise<void>((resolve, reject) => {
        abortSignal.addEventListener('abort', () => stream.destroy(), { once: true });
        stdout.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          bytes += chunk.length;
          if (bytes > MAX_PRINTED_BYTES) stream.destroy();
        });
        stream.on('error', reject);
        stream.on('close', () => resolve());
        stream.on('end', () => resolve());
      });
      stream.destroy();
      return { exitCode: await exitCode(), stdout: Buffer.concat(chunks).toString('utf8') };
    }, limitMs);
  }
}

async function openExec(
  container: ReturnType<EngineClient['getContainer']>,
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
  return { stream, stdout, exitCode: async () => (await exec.inspect({ abortSignal })).ExitCode ?? 0 };
}

/** The engine's client declares less than it gives. */
function asDuplex(stream: NodeJS.ReadWriteStream): Duplex {
  if (stream instanceof Duplex) return stream;
  throw new Error('The client of the Docker engine gave a stream that is none.');
}
