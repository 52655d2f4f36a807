import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { isRawPty, loadNodePty, type NodePtyModule } from '../src/pty/load-node-pty.js';
import { waitForEnd } from './delegate.js';
import { figuresOf, type Figures } from './figures.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, createWorkplace, type Workplace } from './workplace.js';

const TASKS = 20;
const MEGABYTES = 5;
const ROUNDS = 5;
const LINE = `${'The quick brown fox jumps over the lazy dog, and over all that it may meet on its way home.'}\n`;
const STATUS_EVERY_MS = 50;
const LOOK_MS = 20;
const PLAIN_PTY = fileURLToPath(new URL('plain-pty.mjs', import.meta.url));

export interface ManyOutputFigures {
  readonly tasks: number;
  readonly megabytesEach: number;
  /** All programs wait behind a gate; from its opening until every end is known to a waiting client. */
  readonly bridgeMs: Figures;
  /** The same programs in plain node-pty, all at once in one process, until each has exited. */
  readonly rawMs: Figures;
  /** Median of the ratios within a round, as the others. */
  readonly ratio: number;
  /** As many bytes of one program through one plain terminal. */
  readonly rawOneMs: Figures;
  readonly ratioToOne: number;
  /** The same programs with a process of plain node-pty for each, as each task has its keeper, until each process has exited. */
  readonly rawEachMs: Figures;
  readonly ratioToEach: number;
  /** A call while they print. */
  readonly statusMs: Figures;
  /** From the first `start_task` until all twenty stand at the gate. */
  readonly startMs: Figures;
}

/**
 * Twenty tasks at once that print 5 MB each, and the same bytes through plain node-pty in three ways, in turn. By its name the
 * agent is driven as any program or as Claude Code.
 */
export async function measureManyOutput(agentName: 'agent' | 'claude' = 'agent'): Promise<ManyOutputFigures> {
  const workplace = await createWorkplace({ MCP_MAX_CONCURRENT_TASKS: String(TASKS) }, agentName);
  const gate = join(workplace.folder, 'home', 'gate');
  execFileSync('mkfifo', [gate]);
  const text = join(workplace.folder, 'text');
  writeFileSync(text, LINE.repeat(Math.ceil((MEGABYTES * 1e6) / LINE.length)));
  const texts = join(workplace.folder, 'texts');
  writeFileSync(texts, LINE.repeat(Math.ceil((TASKS * MEGABYTES * 1e6) / LINE.length)));
  const client = new StdioClient(BRIDGE, workplace.env);
  const nodePty = await loadNodePty();
  const rounds: { start: number; bridge: number; raw: number; rawOne: number; rawEach: number }[] = [];
  const statusMs: number[] = [];
  try {
    await client.initialize();
    for (let round = 0; round <= ROUNDS; round++) {
      const { startMs, bridgeMs, calls } = await throughBridge(client, workplace, { gate, text });
      const rawMs = await throughNodePty(workplace, { gate, text }, (prompt) =>
        readRaw(nodePty, workplace, prompt),
      );
      const rawOneMs = await throughNodePty(
        workplace,
        { gate, text: texts },
        (prompt) => readRaw(nodePty, workplace, prompt),
        1,
      );
      const rawEachMs = await throughNodePty(workplace, { gate, text }, (prompt) =>
        readInProcess(workplace, prompt),
      );
      // The first round fills the disk cache.
      if (round === 0) continue;
      rounds.push({ start: startMs, bridge: bridgeMs, raw: rawMs, rawOne: rawOneMs, rawEach: rawEachMs });
      statusMs.push(...calls);
    }
  } finally {
    await client.close();
    workplace.dispose();
  }
  return {
    tasks: TASKS,
    megabytesEach: MEGABYTES,
    bridgeMs: figuresOf(rounds.map(({ bridge }) => bridge)),
    rawMs: figuresOf(rounds.map(({ raw }) => raw)),
    ratio: figuresOf(rounds.map(({ bridge, raw }) => bridge / raw)).median,
    rawOneMs: figuresOf(rounds.map(({ rawOne }) => rawOne)),
    ratioToOne: figuresOf(rounds.map(({ bridge, rawOne }) => bridge / rawOne)).median,
    rawEachMs: figuresOf(rounds.map(({ rawEach }) => rawEach)),
    ratioToEach: figuresOf(rounds.map(({ bridge, rawEach }) => bridge / rawEach)).median,
    statusMs: figuresOf(statusMs),
    startMs: figuresOf(rounds.map(({ start }) => start)),
  };
}

interface Gated {
  readonly gate: string;
  readonly text: string;
}

async function throughBridge(
  client: StdioClient,
  workplace: Workplace,
  { gate, text }: Gated,
): Promise<{ startMs: number; bridgeMs: number; calls: number[] }> {
  rmSync(workplace.stamps, { force: true });
  const beginMs = performance.now();
  const ids = await Promise.all(
    Array.from({ length: TASKS }, async (_, index) => {
      const path = workplace.project(`project-${index}`);
      const started = await client.call('start_task', { prompt: `BENCH-GATE ${text}`, path });
      return z.object({ task_id: z.string() }).parse(started).task_id;
    }),
  );
  await allAtGate(workplace);
  const startMs = performance.now() - beginMs;
  const calls: number[] = [];
  const openMs = performance.now();
  openGate(gate);
  let isOver = false;
  const asking = (async () => {
    for (let count = 0; !isOver; count++) {
      const callMs = performance.now();
      await client.call('get_task_status', { task_id: ids[count % TASKS] });
      calls.push(performance.now() - callMs);
      await pause(STATUS_EVERY_MS);
    }
  })();
  const statuses = await waitForEnd(client, ...ids);
  const bridgeMs = performance.now() - openMs;
  isOver = true;
  await asking;
  if (!statuses.every((status) => status === 'completed')) throw new Error(statuses.join());
  return { startMs, bridgeMs, calls };
}

async function throughNodePty(
  workplace: Workplace,
  { gate, text }: Gated,
  read: (prompt: string) => Promise<void>,
  count = TASKS,
): Promise<number> {
  rmSync(workplace.stamps, { force: true });
  const prompt = join(workplace.folder, 'prompt');
  writeFileSync(prompt, `BENCH-GATE ${text}\n`);
  const ends = Array.from({ length: count }, () => read(prompt));
  await allAtGate(workplace, count);
  const openMs = performance.now();
  openGate(gate);
  await Promise.all(ends);
  return performance.now() - openMs;
}

function readRaw(nodePty: NodePtyModule, { agent, env, folder }: Workplace, prompt: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = {
      name: 'xterm-256color',
      cols: 120,
      rows: 40,
      cwd: folder,
      env: { ...env },
      encoding: null,
    };
    const pty = nodePty.spawn('/bin/sh', ['-c', 'exec "$1" < "$2"', 'sh', agent, prompt], options);
    if (!isRawPty(pty)) return reject(new Error('node-pty gave something else'));
    // Read, as whoever shows or keeps it would.
    pty.onData(() => undefined);
    pty.onExit(() => resolve());
  });
}

async function readInProcess({ agent, env, folder }: Workplace, prompt: string): Promise<void> {
  const child = spawn(process.execPath, [PLAIN_PTY, agent, prompt], { cwd: folder, env, stdio: 'ignore' });
  await once(child, 'exit');
}

/** Resolves when every program has stamped its start; its next act is to wait for the gate. */
async function allAtGate({ stamps }: Workplace, count = TASKS): Promise<void> {
  const started = (): number =>
    existsSync(stamps) ? [...readFileSync(stamps, 'utf8').matchAll(/^start /gm)].length : 0;
  while (started() < count) await pause(LOOK_MS);
  // From the stamp to the gate it is two lines of shell; what starts beside a task is over too.
  await pause(1_000);
}

/** Whoever waits to read a pipe goes on when somebody opens it for writing, if only for a moment. */
function openGate(gate: string): void {
  closeSync(openSync(gate, 'w'));
}
