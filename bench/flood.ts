import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { startTask, waitForEnd } from './delegate.js';
import { figuresOf, memoryOf } from './figures.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, createWorkplace, stampsOf, type Workplace } from './workplace.js';

const ROUNDS = 5;
/** Lines of 100 bytes: `L000000001 …`. */
const LINE_BYTES = 100;
const NUMBER_CHARS = 9;
const CALL_EVERY_MS = 50;
/** Above what a task prints, so that rotation keeps all of it. */
const KEEP_ALL_BYTES = 1_073_741_824;
const PLAIN_PTY = join(import.meta.dirname, 'plain-pty.mjs');
const recordSchema = z.looseObject({ keeper: z.object({ pid: z.number() }).nullable() });

/**
 * Tasks at once, each in a project of its own, whose programs print so many megabytes (10^6 bytes) through terminal, recording, log and
 * screen, while a client asks for their status; in turn with raw node-pty.
 */
export async function measureFlood(tasks: number, megabytes: number): Promise<unknown> {
  const workplace = await createWorkplace({
    MCP_MAX_LOG_SIZE: String(KEEP_ALL_BYTES),
    MCP_MAX_CONCURRENT_TASKS: String(tasks),
  });
  const lines = Math.floor((megabytes * 1e6) / LINE_BYTES);
  const text = join(workplace.folder, 'text');
  await pipeline(Readable.from(linesOf(lines)), createWriteStream(text));
  const client = await StdioClient.open(BRIDGE, workplace.env);
  const ratios: number[] = [];
  const runs: Through[] = [];
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const rawMs = await throughNodePty(workplace, text, tasks);
      const run = await throughBridge(client, workplace, text, tasks);
      ratios.push(rawMs / run.printingMs);
      runs.push(run);
    }
    return {
      shareOfRawNodePty: figuresOf(ratios),
      keeperPeakMb: Math.max(...runs.map(({ keeperPeakMb }) => keeperPeakMb)),
      serverPeakMb: memoryOf(client.pid).peak,
      statusCallMs: figuresOf(runs.flatMap(({ calls }) => calls)),
      linesPrinted: ROUNDS * tasks * lines,
      linesInRecordings: runs.reduce((sum, { recorded }) => sum + recorded, 0),
    };
  } finally {
    await client.close();
    workplace.dispose();
  }
}

interface Through {
  readonly printingMs: number;
  readonly calls: readonly number[];
  readonly keeperPeakMb: number;
  /** Distinct lines. */
  readonly recorded: number;
}

async function throughBridge(
  client: StdioClient,
  workplace: Workplace,
  text: string,
  tasks: number,
): Promise<Through> {
  rmSync(workplace.stamps, { force: true });
  const ids = await Promise.all(
    Array.from({ length: tasks }, (_, index) =>
      startTask(client, `BENCH-CAT ${text}`, workplace.project(`project-${index}`)),
    ),
  );
  const folders = ids.map((id) => join(workplace.folder, 'state', 'tasks', id));
  const calls: number[] = [];
  let keeperPeakMb = 0;
  let isOver = false;
  const asking = (async () => {
    for (let count = 0; !isOver; count++) {
      const callMs = performance.now();
      await client.call('get_task_status', { task_id: ids[count % tasks] });
      calls.push(performance.now() - callMs);
      keeperPeakMb = Math.max(keeperPeakMb, keeperPeakOf(folders[count % tasks] ?? ''));
      await pause(CALL_EVERY_MS);
    }
  })();
  const statuses = await waitForEnd(client, ...ids);
  isOver = true;
  await asking;
  if (!statuses.every((status) => status === 'completed')) throw new Error(statuses.join());
  let recorded = 0;
  for (const folder of folders) recorded += await countLines(folder);
  return { printingMs: printingMs(workplace), calls, keeperPeakMb, recorded };
}

/** The same programs, each in a plain pseudo-terminal with a process of its own, as each task has its keeper. */
async function throughNodePty(workplace: Workplace, text: string, count: number): Promise<number> {
  const { agent, env, folder, stamps } = workplace;
  rmSync(stamps, { force: true });
  const prompt = join(folder, 'prompt');
  writeFileSync(prompt, `BENCH-CAT ${text}\n`);
  const start = () =>
    spawn(process.execPath, [PLAIN_PTY, agent, prompt], { cwd: folder, env, stdio: 'ignore' });
  await Promise.all(Array.from({ length: count }, () => once(start(), 'exit')));
  return printingMs(workplace);
}

/** From the first program's start to the last one's end, by their own stamps. */
function printingMs(workplace: Workplace): number {
  return Math.max(...stampsOf(workplace, 'end')) - Math.min(...stampsOf(workplace, 'start'));
}

/** 0 for a keeper that has gone. */
function keeperPeakOf(taskFolder: string): number {
  const { keeper } = recordSchema.parse(JSON.parse(readFileSync(join(taskFolder, 'record.json'), 'utf8')));
  try {
    return keeper === null ? 0 : memoryOf(keeper.pid).peak;
  } catch {
    // It ended between the record and the reading.
    return 0;
  }
}

function* linesOf(count: number): Generator<string> {
  const filler = 'x'.repeat(LINE_BYTES - 'L000000000 \n'.length);
  for (let number = 1; number <= count; number++)
    yield `L${String(number).padStart(NUMBER_CHARS, '0')} ${filler}\n`;
}

/** Distinct line numbers in the output events of a recording. */
async function countLines(folder: string): Promise<number> {
  const seen = new Set<string>();
  // A number may be split over two events.
  let carried = '';
  for await (const line of createInterface({ input: createReadStream(join(folder, 'terminal.cast')) })) {
    const event = z.tuple([z.number(), z.literal('o'), z.string()]).safeParse(JSON.parse(line));
    if (!event.success) continue;
    const text = carried + event.data[2];
    for (const [number] of text.matchAll(/L\d{9}/g)) seen.add(number);
    carried = text.slice(-NUMBER_CHARS);
  }
  return seen.size;
}
