// How much a container costs through the backend, beside dockerode itself in the same run: `npx tsx bench/process-docker.ts [image]`.
import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import Docker from 'dockerode';
import { z } from 'zod';
import { systemClock } from '../src/base/clock.js';
import { silentLogger } from '../src/base/logger.js';
import { DockerBackend } from '../src/processes/docker/docker-backend.js';
import { DockerEngine } from '../src/processes/docker/docker-engine.js';
import { WORK_DIRECTORY } from '../src/processes/docker/docker-spec.js';
import { ownIdentity } from '../src/store/process-identity.js';

const ROUNDS = 9;
const FLOOD_ROUNDS = 5;
const FLOOD_BYTES = 50 * 1024 * 1024;
const HELLO = ['echo', 'hello'] as const;
const FLOOD = ['head', '-c', String(FLOOD_BYTES), '/dev/zero'] as const;

/** Milliseconds from the call to the first byte, and to the end of the output. */
interface Taken {
  readonly firstMs: number;
  readonly endMs: number;
  readonly bytes: number;
}

/** What dockerode's types leave open. */
const modemSchema = z.custom<{
  demuxStream(from: NodeJS.ReadableStream, stdout: Writable, stderr: Writable): void;
}>((value) => typeof value === 'object' && value !== null && 'demuxStream' in value);

const image = process.argv[2] ?? 'claude-code-bridge-test/busybox:latest';
const docker = new Docker();
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
const volumes: string[] = [];

async function byBackend(command: readonly [string, ...string[]]): Promise<Taken> {
  const startMs = performance.now();
  const id = `bench_${randomBytes(8).toString('hex')}`;
  volumes.push(`process-mcp-volume-${id}`);
  let firstMs = 0;
  let bytes = 0;
  const started = await backend.spawn(
    { id, image, command, cwd: WORK_DIRECTORY, env: {} },
    {
      write: (_stream, piece) => {
        if (bytes === 0) firstMs = performance.now() - startMs;
        bytes += piece.length;
        return undefined;
      },
    },
  );
  if (!started.ok) throw new Error(started.fault.message);
  await started.value.exited;
  const endMs = performance.now() - startMs;
  await started.value.dispose();
  return { firstMs, endMs, bytes };
}

/** As a program that uses dockerode writes it: create, attach, start, take apart, wait. */
async function byDockerode([program, ...args]: readonly [string, ...string[]]): Promise<Taken> {
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
  const container = await docker.createContainer({
    Image: image,
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

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

async function compare(name: string, rounds: number, command: readonly [string, ...string[]]): Promise<void> {
  const ours: Taken[] = [];
  const theirs: Taken[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(await byBackend(command));
    theirs.push(await byDockerode(command));
  }
  const told = (taken: readonly Taken[], what: 'firstMs' | 'endMs') => median(taken.map((one) => one[what]));
  const line = (what: 'firstMs' | 'endMs', words: string) => {
    const [own, other] = [told(ours, what), told(theirs, what)];
    return `${name}, ${words}: ${own.toFixed(0)} ms, dockerode ${other.toFixed(0)} ms, ratio ${(own / other).toFixed(2)}\n`;
  };
  process.stdout.write(line('firstMs', 'to the first byte') + line('endMs', 'to the end'));
  const wrong = [...ours, ...theirs].find(({ bytes }) => bytes !== ours[0]?.bytes);
  if (wrong !== undefined) throw new Error(`Bytes are missing: ${wrong.bytes} of ${ours[0]?.bytes}.`);
}

try {
  await compare('echo', ROUNDS, HELLO);
  await compare('50 MB', FLOOD_ROUNDS, FLOOD);
} finally {
  await backend.dispose();
  for (const name of volumes) await engine.call((client) => client.getVolume(name).remove());
  engine.dispose();
}
