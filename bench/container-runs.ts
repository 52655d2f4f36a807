import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import Docker from 'dockerode';
import { z } from 'zod';
import { systemClock } from '../src/base/system-clock.js';
import { silentLogger } from '../src/base/logger.js';
import { DockerBackend } from '../src/processes/docker/docker-backend.js';
import { DockerEngine } from '../src/processes/docker/engine/docker-engine.js';
import { WORK_DIRECTORY } from '../src/processes/docker/docker-spec.js';
import { ownIdentity } from '../src/store/process-identity.js';

/** Milliseconds from the call to the first byte, and to the end of the output. */
export interface Taken {
  readonly firstMs: number;
  readonly endMs: number;
  readonly bytes: number;
}

export type Command = readonly [string, ...string[]];

/** What dockerode's types leave open. */
const modemSchema = z.custom<{
  demuxStream(from: NodeJS.ReadableStream, stdout: Writable, stderr: Writable): void;
}>((value) => typeof value === 'object' && value !== null && 'demuxStream' in value);

/** Runs programs in containers: through the backend, and through dockerode itself. */
export class ContainerRuns {
  readonly #image: string;
  readonly #docker = new Docker();
  readonly #engine: DockerEngine;
  readonly #backend: DockerBackend;
  readonly #volumes: string[] = [];

  private constructor(image: string, engine: DockerEngine, backend: DockerBackend) {
    this.#image = image;
    this.#engine = engine;
    this.#backend = backend;
  }

  static async open(image: string): Promise<ContainerRuns> {
    const engine = new DockerEngine({
      settings: {
        host: process.env['DOCKER_HOST'] ?? null,
        certPath: process.env['DOCKER_CERT_PATH'] ?? null,
        tlsVerify: (process.env['DOCKER_TLS_VERIFY'] ?? '') !== '',
      },
      homeDir: process.env['HOME'] ?? '/',
      clock: systemClock,
    });
    const backend = new DockerBackend({
      engine,
      owner: { id: `bench-${randomBytes(6).toString('hex')}`, keeper: await ownIdentity() },
      clock: systemClock,
      logger: silentLogger,
    });
    return new ContainerRuns(image, engine, backend);
  }

  async byBackend(command: Command): Promise<Taken> {
    const startMs = performance.now();
    const id = `bench_${randomBytes(8).toString('hex')}`;
    this.#volumes.push(`process-mcp-volume-${id}`);
    let firstMs = 0;
    let bytes = 0;
    const started = await this.#backend.spawn(
      { id, image: this.#image, command, cwd: WORK_DIRECTORY, env: {} },
      {
        write: (_stream, piece) => {
          if (bytes === 0) firstMs = performance.now() - startMs;
          bytes += piece.length;
          return undefined;
        },
      },
    );
    await started.exited;
    const endMs = performance.now() - startMs;
    await started.dispose();
    return { firstMs, endMs, bytes };
  }

  /** As a program that uses dockerode writes it: create, attach, start, take apart, wait. */
  async byDockerode([program, ...args]: Command): Promise<Taken> {
    const startMs = performance.now();
    let firstMs = 0;
    let bytes = 0;
    const count = new Writable({
      write: (piece: Buffer, _encoding, done) => {
        if (bytes === 0) firstMs = performance.now() - startMs;
        bytes += piece.length;
        done();
      },
    });
    const container = await this.#docker.createContainer({
      Image: this.#image,
      Entrypoint: [program],
      Cmd: args,
      OpenStdin: true,
      StdinOnce: true,
      User: '1000:1000',
      HostConfig: { Init: true, NetworkMode: 'none' },
    });
    const stream = await container.attach({
      ...{ stream: true, hijack: true, stdin: true, stdout: true, stderr: true },
    });
    const ended = new Promise((resolve) => stream.on('end', resolve));
    modemSchema.parse(container.modem).demuxStream(stream, count, count);
    await container.start();
    await Promise.all([ended, container.wait()]);
    const endMs = performance.now() - startMs;
    await container.remove({ force: true, v: true });
    return { firstMs, endMs, bytes };
  }

  /** Ends what is left, and removes every volume. */
  async dispose(): Promise<void> {
    await this.#backend.dispose();
    for (const name of this.#volumes) await this.#engine.call((client) => client.getVolume(name).remove());
    this.#engine.dispose();
  }
}
