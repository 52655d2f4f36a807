import { Duplex, PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
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
const waitedSchema = z.object({ StatusCode: z.number() });

interface Dial {
  readonly path: string;
  readonly method: 'POST';
  readonly isStream: true;
  readonly statusCodes: Readonly<Record<number, true | string>>;
  readonly options: object;
  readonly abortSignal: AbortSignal;
}

/** What of docker-modem is used; dockerode's types leave it open. */
const modemSchema = z.custom<{
  dial(options: Dial, done: (error: Error | null, body: unknown) => void): void;
}>((value) => typeof value === 'object' && value !== null && 'dial' in value);

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

  /**
   * The exit code, when the container runs no more. `unreachable` when the connection is cut, too: dockerode's own `wait` never
   * settles when an engine dies, since it waits only for the end of an answer that has begun.
   */
  wait(limitMs = Number.POSITIVE_INFINITY): Promise<EngineAnswer<number | undefined>> {
    return this.#engine.call(async (client, abortSignal) => {
      const body = await dialWait(client, this.id, abortSignal);
      abortSignal.addEventListener('abort', () => body.destroy(), { once: true });
      const words = await text(body);
      return waitedSchema.safeParse(words.trim() === '' ? undefined : JSON.parse(words)).data?.StatusCode;
    }, limitMs);
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

function dialWait(client: EngineClient, containerId: string, abortSignal: AbortSignal): Promise<Readable> {
  const statusCodes = {
    200: true,
    400: 'bad parameter',
    404: 'no such container',
    500: 'server error',
  } as const;
  return new Promise((resolve, reject) => {
    modemSchema.parse(client.modem).dial(
      {
        path: `/containers/${containerId}/wait?`,
        method: 'POST',
        isStream: true,
        statusCodes,
        options: {},
        abortSignal,
      },
      (error, answer) => {
        if (error !== null) reject(error);
        else if (answer instanceof Readable) resolve(answer);
        else reject(new Error('The engine gave no answer to wait for.'));
      },
    );
  });
}

/** The engine's client declares less than it gives. */
function asDuplex(stream: NodeJS.ReadWriteStream): Duplex {
  if (stream instanceof Duplex) return stream;
  throw new Error('The client of the Docker engine gave a stream that is none.');
}
