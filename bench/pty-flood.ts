// A child that prints 200 MB: how fast raw node-pty reads it, and how much recording and screen add to that. Every way is
// run in a process of its own, so that memory and collected garbage are its own.
// By itself: npx tsx bench/pty-flood.ts [megabytes]
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { figuresOf } from './figures.js';
import { runFlood, type FloodWay } from './pty-flood-run.js';

export interface PtyFloodOptions {
  /** Megabytes (10^6 bytes) that the child prints. */
  readonly megabytes: number;
  /** Rounds; the ways are interleaved, and of each the median round is told, and of the ratios the median of those within a round. */
  readonly rounds: number;
}

const floodSchema = z.object({
  megabytesPerSecond: z.number(),
  printedBytes: z.number(),
  readBytes: z.number(),
  recordedBytes: z.number(),
  maxRssMegabytes: z.number(),
  callMs: z.object({ p50: z.number(), p95: z.number(), max: z.number() }),
  loopDelayMs: z.object({ p95: z.number(), max: z.number() }),
  cpuMs: z.number(),
});
export type FloodResult = z.infer<typeof floodSchema>;

export interface PtyFloodReport {
  readonly raw: FloodResult;
  readonly session: FloodResult;
  readonly recorded: FloodResult;
  readonly shown: FloodResult;
  /** Speed of the session alone as a share of raw node-pty's. */
  readonly sessionToRaw: number;
  /** Speed with recording and screen as a share of raw node-pty's; the promise is 0.35. */
  readonly shownToRaw: number;
  /** Speed of session and recording as a share of raw node-pty's. */
  readonly recordedToRaw: number;
  /** Time with a screen as a multiple of the time without. */
  readonly shownToRecorded: number;
  /** The same as a multiple of the time of the session alone. */
  readonly shownToSession: number;
}

const ways: readonly FloodWay[] = ['raw', 'session', 'recorded', 'shown'];
/** A round of 200 MB takes three seconds; a way that hangs must not hang the bench. */
const ROUND_LIMIT_MS = 120_000;

export async function runPtyFlood(options: PtyFloodOptions): Promise<PtyFloodReport> {
  const results: Record<FloodWay, FloodResult[]> = { raw: [], session: [], recorded: [], shown: [] };
  for (let round = 0; round < options.rounds; round++) {
    for (const way of ways) results[way].push(await inOwnProcess(way, options.megabytes));
  }
  return {
    raw: median(results.raw),
    session: median(results.session),
    recorded: median(results.recorded),
    shown: median(results.shown),
    sessionToRaw: ratioOf(results.session, results.raw),
    recordedToRaw: ratioOf(results.recorded, results.raw),
    shownToRaw: ratioOf(results.shown, results.raw),
    shownToRecorded: ratioOf(results.recorded, results.shown),
    shownToSession: ratioOf(results.session, results.shown),
  };
}

async function inOwnProcess(way: FloodWay, megabytes: number): Promise<FloodResult> {
  const folder = await mkdtemp(join(tmpdir(), 'bridge-flood-'));
  try {
    const script = fileURLToPath(import.meta.url);
    const args = [...process.execArgv, script, way, String(megabytes), folder];
    await promisify(execFile)(process.execPath, args, { timeout: ROUND_LIMIT_MS });
    return floodSchema.parse(JSON.parse(await readFile(join(folder, 'result.json'), 'utf8')));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function median(results: readonly FloodResult[]): FloodResult {
  const sorted = [...results].sort((a, b) => a.megabytesPerSecond - b.megabytesPerSecond);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (!middle) throw new Error('A bench without rounds has no result.');
  return middle;
}

/** The median over the rounds: what slows the machine for a minute slows both ways of a round. */
function ratioOf(above: readonly FloodResult[], below: readonly FloodResult[]): number {
  return figuresOf(
    above.map((result, round) => result.megabytesPerSecond / (below[round]?.megabytesPerSecond ?? NaN)),
  ).median;
}

function describe(name: string, result: FloodResult): string {
  const { megabytesPerSecond, printedBytes, readBytes, recordedBytes, maxRssMegabytes, callMs, loopDelayMs } =
    result;
  return [
    name.padEnd(10),
    `${megabytesPerSecond.toFixed(1)} MB/s`,
    `printed ${printedBytes} read ${readBytes} recorded ${recordedBytes}`,
    `memory ${maxRssMegabytes.toFixed(0)} MB`,
    `a call ${callMs.p50.toFixed(1)}/${callMs.p95.toFixed(1)}/${callMs.max.toFixed(1)} ms`,
    `loop delay p95 ${loopDelayMs.p95.toFixed(1)} max ${loopDelayMs.max.toFixed(1)} ms`,
    `cpu ${result.cpuMs.toFixed(0)} ms`,
  ].join('  ');
}

async function main(args: readonly string[]): Promise<void> {
  const [first = '200', megabytes, folder] = args;
  const way = ways.find((each) => each === first);
  if (way && megabytes && folder) return runFlood({ way, megabytes: Number(megabytes), folder });
  const report = await runPtyFlood({ megabytes: Number(first), rounds: 7 });
  process.stdout.write(
    [
      describe('raw', report.raw),
      describe('session', report.session),
      describe('recorded', report.recorded),
      describe('shown', report.shown),
      `session / raw speed ${report.sessionToRaw.toFixed(3)}`,
      `recorded / raw speed ${report.recordedToRaw.toFixed(3)}`,
      `shown / raw speed ${report.shownToRaw.toFixed(3)} (promise 0.35)`,
      `shown / recorded time ${report.shownToRecorded.toFixed(3)}`,
      `shown / session time ${report.shownToSession.toFixed(3)}`,
      '',
    ].join('\n'),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
