// The toolset `process` on this machine, each figure beside what the machine does without a server between.
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { loadNodePty, isRawPty } from '../src/pty/load-node-pty.js';
import { z } from 'zod';
import { SLEEP_SECONDS, sleepers } from './sleepers.js';
import { StdioClient } from './stdio-client.js';
import { trivialCalls } from './trivial-calls.js';
import { BRIDGE, createWorkplace, type Workplace } from './workplace.js';

const FLOOD_MB = 200;
const ROUNDS = 5;
const LINE = `${'The quick brown fox jumps over the lazy dog, and over all that it may meet on its way home. 0123'.slice(0, 96)}\n`;
const PIECE_LINES = 10_000;
const AT_ONCE = 20;
const AT_ONCE_BYTES = 5_000_000;
const EXITS = 1_000;
const EXITS_AT_ONCE = 20;
/** Of `seq 1 2000`. */
const EXIT_BYTES = 8_893;
const IDLE = 50;
const MANY_IDLE = 200;
/** What a server does behind its answers, such as compiling, is over by then. */
const SETTLED_MS = 2_000;
const SPAWNS = 60;
const GONE_LIMIT_MS = 3_000;
const KB = 1_024;
const MB = 1_000_000;

const spawnedSchema = z.looseObject({ pid: z.string(), status: z.string() });
const outputSchema = z.looseObject({
  status: z.string(),
  streams: z.record(z.string(), z.object({ bytes: z.number(), missing_bytes: z.number().optional() })),
});

export async function measureProcess(): Promise<unknown> {
  const work = await createWorkplace({ MCP_TOOLSETS: 'process,project' });
  const text = join(work.folder, 'text');
  await writeLines(text, Math.ceil((FLOOD_MB * MB) / LINE.length));
  try {
    return {
      pipes: await measureFlood(work, text, false),
      terminal: await measureFlood(work, text, true),
      atOnce: await measureAtOnce(work),
      exits: await measureExits(work),
      idle: await measureIdle(work),
      start: await measureStart(work),
    };
  } finally {
    work.dispose();
  }
}

async function serve(work: Workplace): Promise<StdioClient> {
  const client = new StdioClient(BRIDGE, work.env);
  await client.initialize();
  await client.call('set_active_project', { path: work.project('app') });
  // What is loaded once.
  await client.call('spawn', { command: 'true' });
  await client.call('spawn', { command: 'true', tty: true });
  return client;
}

/** Each round has a server of its own: what one flood left in memory is not the next one's. */
async function measureFlood(work: Workplace, text: string, tty: boolean): Promise<unknown> {
  const floor: number[] = [];
  const through: number[] = [];
  const ours: number[] = [];
  const late: number[] = [];
  const grown: number[] = [];
  let isWhole = true;
  for (let round = 0; round < ROUNDS; round++) {
    floor.push(tty ? await rawTerminalMs(text) : await catToFileMs(text, join(work.folder, 'copy')));
    if (!tty) through.push(await catToFileMs(text, join(work.folder, 'copy'), 'cat "$1" | cat > "$2"'));
    const client = await serve(work);
    const before = memoryOf(client.pid, 'VmRSS');
    const calls = trivialCalls(client, work.project('app'));
    const startMs = performance.now();
    const { pid } = spawnedSchema.parse(
      await client.call('spawn', { command: 'cat', args: [text], tty, timeout_seconds: 45 }),
    );
    ours.push(performance.now() - startMs);
    late.push(...(await calls.stop()));
    grown.push(memoryOf(client.pid, 'VmHWM') - before);
    const { streams } = outputSchema.parse(await client.call('stdout', { pid, lines: 1 }));
    const lines = Math.ceil((FLOOD_MB * MB) / LINE.length);
    const expected = lines * (LINE.length + (tty ? 1 : 0));
    const found = streams[tty ? 'terminal' : 'stdout'];
    isWhole &&= found?.bytes === expected && found.missing_bytes === undefined;
    await client.close();
    rmSync(join(work.folder, 'state'), { recursive: true, force: true });
  }
  return {
    floorMs: median(floor),
    oursMs: median(ours),
    shareOfFloor: median(floor) / median(ours),
    // What any program behind a pipe can reach that does nothing but copy.
    ...(!tty && { shareOfPipedCat: median(through) / median(ours) }),
    isWhole,
    memoryMb: median(grown),
    callP95Ms: percentile(late, 0.95),
    callMaxMs: percentile(late, 1),
  };
}

async function measureAtOnce(work: Workplace): Promise<unknown> {
  const client = await serve(work);
  const before = memoryOf(client.pid, 'VmRSS');
  const startMs = performance.now();
  const answers = await Promise.all(
    Array.from({ length: AT_ONCE }, () =>
      client.call('spawn', {
        command: `head -c ${AT_ONCE_BYTES} /dev/zero | tr '\\0' x`,
        shell: true,
        timeout_seconds: 45,
      }),
    ),
  );
  const elapsedMs = performance.now() - startMs;
  let whole = 0;
  for (const answer of answers) {
    const { pid } = spawnedSchema.parse(answer);
    const { streams } = outputSchema.parse(await client.call('stdout', { pid, lines: 1 }));
    if (streams['stdout']?.bytes === AT_ONCE_BYTES) whole++;
  }
  const memoryMb = memoryOf(client.pid, 'VmHWM') - before;
  await client.close();
  return { elapsedMs, whole, of: AT_ONCE, memoryMb };
}

async function measureExits(work: Workplace): Promise<unknown> {
  const client = await serve(work);
  const startMs = performance.now();
  let whole = 0;
  for (let done = 0; done < EXITS; done += EXITS_AT_ONCE) {
    const answers = await Promise.all(
      Array.from({ length: EXITS_AT_ONCE }, () =>
        client.call('spawn', { command: 'seq 1 2000; echo the end >&2; exit 4', shell: true }),
      ),
    );
    for (const answer of answers) {
      const one = spawnedSchema.parse(answer);
      const { streams } = outputSchema.parse(await client.call('stdout', { pid: one.pid, lines: 1 }));
      const isWhole = streams['stdout']?.bytes === EXIT_BYTES && one['stderr'] === 'the end\n';
      if (isWhole && one['exit_code'] === 4) whole++;
    }
  }
  const elapsedMs = performance.now() - startMs;
  await client.close();
  return { elapsedMs, whole, of: EXITS };
}

/**
 * The memory of a server for each of the first fifty children that do nothing, and for each of the next hundred and fifty: the
 * first calls let the heap grow. Each round has a server of its own.
 */
async function measureIdle(work: Workplace): Promise<unknown> {
  const each: number[] = [];
  const furtherEach: number[] = [];
  const leftMs: number[] = [];
  const goneMs: number[] = [];
  let left = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const client = await serve(work);
    const start = async (count: number): Promise<number> => {
      const before = await settledMemory(client);
      const wish = { command: 'sleep', args: [SLEEP_SECONDS], background: true };
      await Promise.all(Array.from({ length: count }, () => client.call('spawn', wish)));
      return ((await settledMemory(client)) - before) / count;
    };
    each.push(await start(IDLE));
    furtherEach.push(await start(MANY_IDLE - IDLE));
    const startMs = performance.now();
    await client.close();
    leftMs.push(performance.now() - startMs);
    while (sleepers().length > 0 && performance.now() - startMs < GONE_LIMIT_MS)
      await new Promise((resolve) => setTimeout(resolve, 10));
    goneMs.push(performance.now() - startMs);
    left += sleepers().length;
  }
  return {
    eachMb: median(each),
    eachMbOfRounds: each,
    furtherEachMb: median(furtherEach),
    serverLeftMs: median(leftMs),
    goneMs: median(goneMs),
    left,
  };
}

async function settledMemory(client: StdioClient): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
  return memoryOf(client.pid, 'VmRSS');
}

/** From the request until it runs, against a spawn by this process; and until its first output is here. */
async function measureStart(work: Workplace): Promise<unknown> {
  const client = await serve(work);
  const direct: number[] = [];
  const ours: number[] = [];
  const directEnd: number[] = [];
  const oursEnd: number[] = [];
  for (let round = 0; round < SPAWNS; round++) {
    direct.push(await directSpawnMs('spawn'));
    directEnd.push(await directSpawnMs('close'));
    let startMs = performance.now();
    await client.call('spawn', { command: 'true', background: true });
    ours.push(performance.now() - startMs);
    startMs = performance.now();
    await client.call('spawn', { command: 'true' });
    oursEnd.push(performance.now() - startMs);
  }
  await client.close();
  return {
    directMs: median(direct),
    oursMs: median(ours),
    ratio: median(ours) / median(direct),
    directToEndMs: median(directEnd),
    oursToEndMs: median(oursEnd),
    ratioToEnd: median(oursEnd) / median(directEnd),
  };
}

function directSpawnMs(event: 'spawn' | 'close'): Promise<number> {
  return new Promise((resolve) => {
    const startMs = performance.now();
    const child = spawn('true', [], { detached: true });
    let elapsedMs = 0;
    child.on(event, () => (elapsedMs = performance.now() - startMs));
    child.on('close', () => resolve(elapsedMs));
  });
}

function catToFileMs(text: string, to: string, script = 'cat "$1" > "$2"'): Promise<number> {
  return new Promise((resolve) => {
    const startMs = performance.now();
    spawn('sh', ['-c', script, 'sh', text, to]).on('close', () => {
      resolve(performance.now() - startMs);
      rmSync(to, { force: true });
    });
  });
}

async function rawTerminalMs(text: string): Promise<number> {
  const nodePty = await loadNodePty();
  return new Promise((resolve, reject) => {
    const startMs = performance.now();
    const pty = nodePty.spawn('/bin/cat', [text], {
      name: 'xterm-256color',
      cols: 120,
      rows: 40,
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', TERM: 'xterm-256color' },
      encoding: null,
    });
    if (!isRawPty(pty)) return reject(new Error('node-pty gave something else'));
    pty.onData(() => undefined);
    pty.onExit(() => resolve(performance.now() - startMs));
  });
}

function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return (Number(new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(status)?.[1]) * KB) / MB;
}

async function writeLines(path: string, lines: number): Promise<void> {
  const piece = Buffer.from(LINE.repeat(PIECE_LINES));
  const file = await open(path, 'w');
  for (let left = lines; left > 0; left -= PIECE_LINES)
    await file.write(piece, 0, Math.min(left, PIECE_LINES) * LINE.length);
  await file.close();
}

function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
