// One round of the flood, in this process; the result goes to a file, as the terminal's output is what is measured.
import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { systemClock } from '../src/base/system-clock.js';
import { isRawPty, loadNodePty } from '../src/pty/load-node-pty.js';
import { allWaits, type Child } from '../src/pty/child.js';
import { PtyManager } from '../src/pty/pty-manager.js';
import { Screen } from '../src/screen/screen.js';
import { TerminalRecording } from '../src/store/terminal-recording.js';

/** Raw node-pty; a session of the bridge alone; that with its recording; and with a screen, too. */
export type FloodWay = 'raw' | 'session' | 'recorded' | 'shown';

export interface FloodRun {
  readonly way: FloodWay;
  readonly megabytes: number;
  readonly folder: string;
}

const COLUMNS = 120;
const ROWS = 40;
const LINE = `${'The quick brown fox jumps over the lazy dog, and over all that it may meet on its way home. 0123'.slice(0, 96)}\n`;
/** Above what the child prints, so that the whole recording is kept. */
const MAX_LOG_BYTES = 300_000_000;
/** How often a call comes in meanwhile. */
const CALL_EVERY_MS = 20;
const PIECE_LINES = 10_000;
const env = { PATH: '/usr/local/bin:/usr/bin:/bin', TERM: 'xterm-256color' };

export async function runFlood({ way, megabytes, folder }: FloodRun): Promise<void> {
  const text = join(folder, 'text');
  const lines = Math.ceil((megabytes * 1_000_000) / LINE.length);
  await writeLines(text, lines);
  // Every line ends in two bytes on a terminal.
  const printedBytes = lines * (LINE.length + 1);
  const nodePty = await loadNodePty();
  const calls = new TrivialCalls();
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  const read = way === 'raw' ? await readRaw(nodePty, text) : await readSession(way, text, folder);
  const elapsedMs = performance.now() - startMs;
  const { user, system } = process.cpuUsage(cpu);
  delay.disable();
  const callMs = calls.stop();
  // Before the recording is read back for the count.
  const maxRssMegabytes = process.resourceUsage().maxRSS / 1024;
  const result = {
    megabytesPerSecond: read.readBytes / 1000 / elapsedMs,
    printedBytes,
    ...read,
    recordedBytes: await countRecorded(folder),
    maxRssMegabytes,
    callMs,
    loopDelayMs: { p95: delay.percentile(95) / 1e6, max: delay.max / 1e6 },
    cpuMs: (user + system) / 1000,
  };
  await writeFile(join(folder, 'result.json'), JSON.stringify(result));
}

/** In pieces, so that the text is not part of the memory that is measured. */
async function writeLines(path: string, lines: number): Promise<void> {
  const piece = Buffer.from(LINE.repeat(PIECE_LINES));
  const file = await open(path, 'w');
  for (let left = lines; left > 0; left -= PIECE_LINES) {
    await file.write(piece, 0, Math.min(left, PIECE_LINES) * LINE.length);
  }
  await file.close();
}

type Read = { readBytes: number };

function readRaw(nodePty: Awaited<ReturnType<typeof loadNodePty>>, text: string): Promise<Read> {
  return new Promise((resolve, reject) => {
    const options = { name: 'xterm-256color', cols: COLUMNS, rows: ROWS, cwd: '/', env, encoding: null };
    const pty = nodePty.spawn('/bin/cat', [text], options);
    if (!isRawPty(pty)) return reject(new Error('node-pty gave something else'));
    let readBytes = 0;
    pty.onData((data) => {
      if (Buffer.isBuffer(data)) readBytes += data.length;
    });
    pty.onExit(() => resolve({ readBytes }));
  });
}

async function readSession(way: FloodWay, text: string, folder: string): Promise<Read> {
  const manager = new PtyManager({ clock: systemClock });
  const size = { columns: COLUMNS, rows: ROWS };
  const recording = new TerminalRecording({
    path: join(folder, 'terminal.cast'),
    maxBytes: MAX_LOG_BYTES,
    ...size,
    clock: systemClock,
    onError: (error) => {
      throw error;
    },
  });
  let child: Child | undefined = undefined;
  const reply = (data: string): void => void child?.write(data);
  const screen =
    way === 'shown' ? new Screen({ ...size, scrollback: 1000, clock: systemClock, reply }) : undefined;
  let readBytes = 0;
  const write = (_stream: unknown, bytes: Uint8Array): Promise<void> | undefined => {
    readBytes += bytes.length;
    return way === 'session' ? undefined : allWaits([recording.output(bytes), screen?.feed(bytes)]);
  };
  const command = ['/bin/cat', text];
  child = await manager.spawn({ command, cwd: '/', env, size, shell: '/bin/sh', sink: { write } });
  await child.exited;
  await Promise.all([recording.close(), screen?.parsed()]);
  screen?.dispose();
  return { readBytes };
}

async function countRecorded(folder: string): Promise<number> {
  let bytes = 0;
  for (const name of (await readdir(folder)).filter((each) => each.startsWith('terminal.cast'))) {
    // A file of the recording may be longer than the longest string.
    const file = await readFile(join(folder, name));
    for (let from = 0; from < file.length;) {
      const end = file.indexOf(0x0a, from);
      const event: unknown = JSON.parse(file.toString('utf8', from, end));
      if (Array.isArray(event) && typeof event[2] === 'string') bytes += Buffer.byteLength(event[2]);
      from = end + 1;
    }
  }
  return bytes;
}

/** A call that does nothing, as the event loop answers it: how long after it was due. */
class TrivialCalls {
  readonly #lateMs: number[] = [];
  #dueMs = performance.now() + CALL_EVERY_MS;
  #timer = setTimeout(() => this.#answer(), CALL_EVERY_MS);

  stop(): { p50: number; p95: number; max: number } {
    clearTimeout(this.#timer);
    const sorted = this.#lateMs.sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return { p50: at(0.5), p95: at(0.95), max: at(1) };
  }

  #answer(): void {
    this.#lateMs.push(Math.max(0, performance.now() - this.#dueMs));
    this.#dueMs = performance.now() + CALL_EVERY_MS;
    this.#timer = setTimeout(() => this.#answer(), CALL_EVERY_MS);
  }
}
