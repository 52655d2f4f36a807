// The toolset `process` in containers, beside dockerode itself in the same run.
import Docker from 'dockerode';
import { z } from 'zod';
import { messageOf } from '../src/base/errors.js';
import { ContainerRuns, type Command, type Taken } from './container-runs.js';
import { figuresOf, memoryOf } from './figures.js';
import { SLEEP_SECONDS, sleepers } from './sleepers.js';
import { StdioClient } from './stdio-client.js';
import { trivialCalls } from './trivial-calls.js';
import { BRIDGE, createWorkplace, type Workplace } from './workplace.js';

const IMAGE = 'claude-code-bridge-test/busybox:latest';
const HELLO_ROUNDS = 9;
const FLOOD_ROUNDS = 5;
const SERVER_ROUNDS = 3;
const SHORT_FLOOD_BYTES = 50 * 1024 * 1024;
const FLOOD_BYTES = 200_000_000;
const IDLE = 50;
const LEAVE_LIMIT_MS = 3_000;
/** How long the engine's own end of them is watched. */
const LEAVE_WATCH_MS = 15_000;
const ANSWER_LIMIT_MS = 5_000;

const spawnedSchema = z.looseObject({ pid: z.string(), status: z.string() });
const outputSchema = z.looseObject({
  streams: z.record(z.string(), z.object({ bytes: z.number(), missing_bytes: z.number().optional() })),
});

/** Needs an engine that has the image of the tests: `scripts/test-engine.sh start <folder>` prints its DOCKER_HOST. */
export async function measureProcessDocker(): Promise<unknown> {
  const lacking = await whatIsLacking();
  if (lacking !== undefined) return { skipped: lacking };
  const work = await createWorkplace({
    MCP_TOOLSETS: 'process,project',
    MCP_DOCKER_IMAGE: IMAGE,
    ...(process.env['DOCKER_HOST'] !== undefined && { DOCKER_HOST: process.env['DOCKER_HOST'] }),
  });
  const runs = await ContainerRuns.open(IMAGE);
  const volumes: string[] = [];
  try {
    return {
      echo: await compare(runs, HELLO_ROUNDS, ['echo', 'hello']),
      flood50: await compare(runs, FLOOD_ROUNDS, flood(SHORT_FLOOD_BYTES)),
      flood200: await measureFlood(runs, work, volumes),
      idle: await measureIdle(work, volumes),
    };
  } finally {
    await runs.dispose();
    work.dispose();
    await removeWhatIsLeft(volumes);
  }
}

async function whatIsLacking(): Promise<string | undefined> {
  try {
    await new Docker({ timeout: ANSWER_LIMIT_MS }).getImage(IMAGE).inspect();
    return undefined;
  } catch (error) {
    return `No engine answers that has ${IMAGE} (${messageOf(error)}); scripts/test-engine.sh starts one.`;
  }
}

function flood(bytes: number): Command {
  return ['head', '-c', String(bytes), '/dev/zero'];
}

async function compare(runs: ContainerRuns, rounds: number, command: Command): Promise<unknown> {
  const ours: Taken[] = [];
  const theirs: Taken[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(await runs.byBackend(command));
    theirs.push(await runs.byDockerode(command));
  }
  const wrong = [...ours, ...theirs].find(({ bytes }) => bytes !== ours[0]?.bytes);
  if (wrong !== undefined) throw new Error(`Bytes are missing: ${wrong.bytes} of ${ours[0]?.bytes}.`);
  const beside = (what: 'firstMs' | 'endMs') => {
    const [own, other] = [ours, theirs].map((taken) => figuresOf(taken.map((one) => one[what])).median);
    return { oursMs: own, dockerodeMs: other, ratio: (own ?? NaN) / (other ?? NaN) };
  };
  return { toFirstByte: beside('firstMs'), toEnd: beside('endMs') };
}

async function serve(work: Workplace, volumes: string[]): Promise<StdioClient> {
  const client = new StdioClient(BRIDGE, work.env);
  await client.initialize();
  await client.call('set_active_project', { path: work.project('app') });
  // What is loaded once.
  await spawnIn(client, volumes, { command: 'true' });
  return client;
}

/** Through a server that keeps all of it, beside dockerode that counts it. */
async function measureFlood(runs: ContainerRuns, work: Workplace, volumes: string[]): Promise<unknown> {
  const ours: number[] = [];
  const theirs: number[] = [];
  const calls: number[] = [];
  const grown: number[] = [];
  let isWhole = true;
  const [command, ...args] = flood(FLOOD_BYTES);
  for (let round = 0; round < SERVER_ROUNDS; round++) {
    theirs.push((await runs.byDockerode(flood(FLOOD_BYTES))).endMs);
    const client = await serve(work, volumes);
    const before = memoryOf(client.pid).rss;
    const asked = trivialCalls(client, work.project('app'));
    const startMs = performance.now();
    const pid = await spawnIn(client, volumes, { command, args, timeout_seconds: 45 });
    ours.push(performance.now() - startMs);
    calls.push(...(await asked.stop()));
    grown.push(memoryOf(client.pid).peak - before);
    const { streams } = outputSchema.parse(await client.call('stdout', { pid, lines: 1 }));
    const found = streams['stdout'];
    isWhole &&= found?.bytes === FLOOD_BYTES && found.missing_bytes === undefined;
    await client.close();
  }
  const [own, other] = [figuresOf(ours).median, figuresOf(theirs).median];
  const call = figuresOf(calls);
  return {
    oursMs: own,
    dockerodeMs: other,
    ratio: own / other,
    isWhole,
    memoryMb: figuresOf(grown).median,
    callMs: { median: call.median, p95: call.p95, max: call.max },
  };
}

/** The memory of the server for each container that does nothing, and how soon all are gone when its client leaves. */
async function measureIdle(work: Workplace, volumes: string[]): Promise<unknown> {
  const client = await serve(work, volumes);
  const start = async (seconds: string): Promise<string[]> => {
    const started: string[] = [];
    for (let index = 0; index < IDLE; index++)
      started.push(await spawnIn(client, volumes, { command: 'sleep', args: [seconds], background: true }));
    return started;
  };
  // The first fifty grow the heap to what such calls need; what is ended leaves that behind.
  const first = await start('600');
  for (const pid of first) await client.call('kill', { pid, signal: 'SIGKILL' });
  const before = memoryOf(client.pid).rss;
  const startMs = performance.now();
  await start(SLEEP_SECONDS);
  const startedMs = (performance.now() - startMs) / IDLE;
  const eachMb = (memoryOf(client.pid).rss - before) / IDLE;
  const closeMs = performance.now();
  await client.close();
  const leftMs = performance.now() - closeMs;
  const look = async () => ({ processes: sleepers().length, containers: await containers() });
  const leftAtOnce = await look();
  let left = leftAtOnce;
  let processesGoneMs: number | undefined;
  let containersGoneMs: number | undefined;
  let elapsedMs = performance.now() - closeMs;
  for (let now = leftAtOnce; elapsedMs < LEAVE_WATCH_MS; elapsedMs = performance.now() - closeMs) {
    if (elapsedMs < LEAVE_LIMIT_MS) left = now;
    // Of an engine on another machine the processes are not seen, and count as gone.
    if (now.processes === 0) processesGoneMs ??= elapsedMs;
    if (now.containers === 0) containersGoneMs = elapsedMs;
    if (containersGoneMs !== undefined) break;
    now = await look();
  }
  return { eachMb, startedMs, serverLeftMs: leftMs, leftAtOnce, left, processesGoneMs, containersGoneMs };
}

/** Those that run; what has ended is removed by the next server, when one leaves before the engine could. */
async function containers(): Promise<number> {
  return (await new Docker().listContainers({ filters: { ancestor: [IMAGE] } })).length;
}

async function removeWhatIsLeft(volumes: readonly string[]): Promise<void> {
  const docker = new Docker();
  for (const name of volumes) {
    const filters = { volume: [name] };
    for (const { Id } of await docker.listContainers({ all: true, filters }))
      await docker.getContainer(Id).remove({ force: true, v: true });
    await docker.getVolume(name).remove();
  }
}

/** Starts one through the server; its volume is noted, to be removed at the end. */
async function spawnIn(
  client: StdioClient,
  volumes: string[],
  wish: Readonly<Record<string, unknown>>,
): Promise<string> {
  const { pid } = spawnedSchema.parse(await client.call('spawn', { mode: 'docker', ...wish }));
  volumes.push(`process-mcp-volume-${pid}`);
  return pid;
}
