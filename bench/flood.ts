import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
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
/** Keepers end right after their tasks; so long after the client's end nothing may be left. */
const SETTLE_MS = 1_000;
/** Above what a task prints, so that rotation keeps all of it. */
const KEEP_ALL_BYTES = 1_073_741_824;
const PLAIN_PTY = fileURLToPath(new URL('plain-pty.mjs', import.meta.url));
const recordSchema = z.looseObject({ keeper: z.object({ pid: z.number() }).nullable() });

export interface FloodQuery {
  /** At once, each in a project of its own. */
  readonly tasks: number;
  /** What each prints, in 10^6 bytes. */
  readonly megabytes: number;
}

/** Tasks whose programs print, through terminal, recording, log and screen, while a client asks for their status; in turn with raw node-pty. */
export async function measureFlood({ tasks, megabytes }: FloodQuery): Promise<unknown> {
  const workplace = await createWorkplace({
    MCP_MAX_LOG_SIZE: String(KEEP_ALL_BYTES),
    MCP_MAX_CONCURRENT_TASKS: String(tasks),
  });
  const client = new StdioClient(BRIDGE, workplace.env);
  const lines = Math.floor((megabytes * 1e6) / LINE_BYTES);
  const text = join(workplace.folder, 'text');
  writeLines(text, lines);
  const ratios: number[] = [];
  const runs: Through[] = [];
  try {
    await client.initialize();
    for (let round = 0; round < ROUNDS; round++) {
      const rawMs = await throughNodePty(workplace, text, tasks);
      const run = await throughBridge(client, workplace, text, tasks);
      ratios.push(rawMs / run.printingMs);
      runs.push(run);
    }
    const serverPeakMb = memoryOf(client.pid).peak;
    await client.close();
    await pause(SETTLE_MS);
    return {
      shareOfRawNodePty: figuresOf(ratios),
      keeperPeakMb: Math.max(...runs.map(({ keeperPeakMb }) => keeperPeakMb)),
      serverPeakMb,
      statusCallMs: figuresOf(runs.flatMap(({ calls }) => calls)),
      linesPrinted: ROUNDS * tasks * lines,
      linesInRecordings: runs.reduce((sum, { recorded }) => sum + recorded, 0),
      processesLeft: processesOf(workplace.folder),
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
  await Promise.all(
    Array.from({ length: count }, () =>
      once(
        spawn(process.execPath, [PLAIN_PTY, agent, prompt], { cwd: folder, env, stdio: 'ignore' }),
        'exit',
      ),
    ),
  );
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

function writeLines(path: string, lines: number): void {
  const filler = 'x'.repeat(LINE_BYTES - 'L000000000 \n'.length);
  const line = (number: number): string => `L${String(number).padStart(NUMBER_CHARS, '0')} ${filler}\n`;
  rmSync(path, { force: true });
  for (let from = 1; from <= lines; from += 10_000) {
    const count = Math.min(10_000, lines + 1 - from);
    writeFileSync(path, Array.from({ length: count }, (_, index) => line(from + index)).join(''), {
      flag: 'a',
    });
  }
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

/** Processes whose environment names the workplace. */
function processesOf(folder: string): number {
  return readdirSync('/proc').filter((pid) => {
    const file = `/proc/${pid}/environ`;
    try {
      return /^\d+$/.test(pid) && existsSync(file) && readFileSync(file, 'utf8').includes(folder);
    } catch {
      // It is gone, or another user's.
      return false;
    }
  }).length;
}
