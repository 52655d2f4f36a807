import { createReadStream, createWriteStream, existsSync, readFileSync, readdirSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { waitForEnd } from './delegate.js';
import { figuresOf, memoryOf, type Figures } from './figures.js';
import { StdioClient } from './stdio-client.js';
import { BRIDGE, createWorkplace, type Workplace } from './workplace.js';

/** Lines of 100 bytes: `L000000001 …`. */
const LINE_BYTES = 100;
const PING_MS = 50;
const NUMBER_CHARS = 9;
/** Above what the flood prints, so that rotation keeps all of it. */
const KEEP_ALL_BYTES = 1_073_741_824;
const recordSchema = z.object({ keeper: z.object({ pid: z.number() }), log_file: z.string() });

export interface FloodTaskFigures {
  readonly megabytes: number;
  readonly seconds: number;
  readonly megabytesPerSecond: number;
  readonly keeperPeakMb: number;
  readonly serverPeakMb: number;
  readonly statusCallMs: Figures;
  readonly linesPrinted: number;
  readonly linesInRecording: number;
  readonly linesInLog: number;
}

/** One task whose program prints `megabytes`: through terminal, recording, log and screen, while a client asks for its status. */
export async function measureFloodTask(megabytes: number): Promise<FloodTaskFigures> {
  const workplace = await createWorkplace({ MCP_MAX_LOG_SIZE: String(KEEP_ALL_BYTES) });
  const client = new StdioClient(BRIDGE, workplace.env);
  try {
    await client.initialize();
    const lines = Math.floor((megabytes * 1e6) / LINE_BYTES);
    const file = join(workplace.folder, 'flood.txt');
    await writeLines(file, lines);
    const startMs = performance.now();
    const { task_id } = z
      .object({ task_id: z.string() })
      .parse(
        await client.call('start_task', { prompt: `BENCH-CAT ${file}`, path: workplace.project('flood') }),
      );
    const record = recordSchema.parse(
      JSON.parse(readFileSync(join(taskDir(workplace, task_id), 'record.json'), 'utf8')),
    );
    const calls: number[] = [];
    let keeperPeakMb = 0;
    let ended = false;
    const pinging = (async () => {
      while (!ended) {
        const callMs = performance.now();
        await client.call('get_task_status', { task_id });
        calls.push(performance.now() - callMs);
        if (existsSync(`/proc/${record.keeper.pid}/status`))
          keeperPeakMb = Math.max(keeperPeakMb, peakOf(record.keeper.pid));
        await new Promise((resolve) => setTimeout(resolve, PING_MS));
      }
    })();
    await waitForEnd(client, task_id);
    const seconds = (performance.now() - startMs) / 1000;
    ended = true;
    await pinging;
    return {
      megabytes,
      seconds,
      megabytesPerSecond: megabytes / seconds,
      keeperPeakMb,
      serverPeakMb: memoryOf(client.pid).peak,
      statusCallMs: figuresOf(calls),
      linesPrinted: lines,
      linesInRecording: await countLines(taskDir(workplace, task_id), 'terminal.cast', outputOf),
      linesInLog: await countLines(
        join(workplace.folder, 'flood', '.claude', 'mcp-logs'),
        `${task_id}.log`,
        (line) => `${line}\n`,
      ),
    };
  } finally {
    await client.close();
    workplace.dispose();
  }
}

/** The keeper may be gone between the look and the reading. */
function peakOf(pid: number): number {
  try {
    return memoryOf(pid).peak;
  } catch {
    return 0;
  }
}

function taskDir(workplace: Workplace, taskId: string): string {
  return join(workplace.folder, 'state', 'tasks', taskId);
}

async function writeLines(path: string, lines: number): Promise<void> {
  const out = createWriteStream(path);
  const filler = 'x'.repeat(LINE_BYTES - 'L000000000 \n'.length);
  let batch = '';
  for (let line = 1; line <= lines; line++) {
    batch += `L${String(line).padStart(9, '0')} ${filler}\n`;
    if (batch.length < 1 << 20 && line < lines) continue;
    if (!out.write(batch)) await once(out, 'drain');
    batch = '';
  }
  out.end();
  await once(out, 'close');
}

/** Distinct line numbers in a file and its rotated part; `textOf` gives what a line of the file holds. */
async function countLines(folder: string, name: string, textOf: (line: string) => string): Promise<number> {
  const seen = new Set<string>();
  // A number may be split over two events of a recording.
  let carried = '';
  for (const file of readdirSync(folder)
    .filter((entry) => entry === name || entry === `${name}.1`)
    .sort()
    .reverse()) {
    for await (const line of createInterface({
      input: createReadStream(join(folder, file)),
      crlfDelay: Infinity,
    })) {
      const text = carried + textOf(line);
      for (const match of text.matchAll(/L\d{9}/g)) seen.add(match[0]);
      carried = text.slice(-NUMBER_CHARS);
    }
  }
  return seen.size;
}

/** The output of one event of an asciicast recording. */
function outputOf(line: string): string {
  const event = z.tuple([z.number(), z.string(), z.string()]).safeParse(JSON.parse(line));
  return event.success && event.data[1] === 'o' ? event.data[2] : '';
}
