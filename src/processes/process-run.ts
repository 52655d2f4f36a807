import { sleep, type Clock } from '../base/clock.js';
import { BridgeError, messageOf, systemCodeOf, ignoreBridgeError } from '../base/errors.js';
import { Emitter } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import { ProcessOutput } from './output/process-output.js';
import type {
  OutputBytes,
  ProcessExit,
  ProcessHandle,
  RunningProcess,
  ScreenText,
} from './process-handle.js';
import { bytesOfKeys } from './keys.js';
import { allWaits, type OutputSink, type TerminalSize } from '../pty/child.js';
import { Screen } from '../screen/screen.js';
import type { ProcessRecord } from './process-record.js';
import type { ProcessStore } from './process-store.js';

/** How often a disk that did not take the end is tried again. */
const RETRY_MS = 1_000;
const SCROLLBACK_LINES = 100;

export interface ProcessRunParts {
  readonly store: ProcessStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Bound of each output stream on disk. */
  readonly maxOutputBytes: number;
}

/** Starts it with the sink of its output. */
export type StartProcess = (sink: OutputSink) => Promise<ProcessHandle>;

interface OpenParts extends ProcessRunParts {
  readonly handle: ProcessHandle;
  readonly output: ProcessOutput;
  readonly screen: Screen | undefined;
}

/** One process that this program runs: its handle, its output on disk, its screen, its record. */
export class ProcessRun implements RunningProcess {
  readonly ended: Promise<ProcessRecord>;
  readonly recorded: Promise<void>;
  readonly #leaving = new AbortController();
  readonly #parts: OpenParts;
  readonly #done = new Emitter<void>();
  #record: ProcessRecord;
  #size: TerminalSize | null;

  private constructor(parts: OpenParts, record: ProcessRecord) {
    this.#parts = parts;
    this.#record = record;
    this.#size = record.tty;
    const end = parts.handle.exited.then((exit) => this.#end(exit));
    this.ended = end.then(() => this.#record);
    this.recorded = end.then((isRecorded) => this.#untilRecorded(isRecorded));
  }

  /** Writes the record and starts the process. Throws BridgeError; nothing is left then. */
  static async start(
    parts: ProcessRunParts,
    record: ProcessRecord,
    start: StartProcess,
  ): Promise<ProcessRun> {
    const { store, clock, logger, maxOutputBytes } = parts;
    const folder = await store.create(record);
    const output = new ProcessOutput({
      folder,
      maxBytes: maxOutputBytes,
      onError: (error) =>
        logger.warn('output of a process cannot be written', {
          process: record.process_id,
          error: messageOf(error),
        }),
    });
    /** What the terminal answers to questions that come before the process is known here. */
    const early: Uint8Array[] = [];
    let reply = (bytes: Uint8Array): void => void early.push(bytes);
    const size = record.tty;
    // Before the process: its first bytes come while it is still being started.
    const screen =
      size === null
        ? undefined
        : new Screen({
            ...size,
            scrollback: SCROLLBACK_LINES,
            clock,
            reply: (text) => reply(Buffer.from(text, 'latin1')),
          });
    try {
      const handle = await start(screen === undefined ? output : shown(output, screen));
      // A program that ends meanwhile needs no reply.
      reply = (bytes) => void handle.write(bytes).catch(ignoreBridgeError);
      for (const bytes of early) reply(bytes);
      return new ProcessRun({ ...parts, handle, output, screen }, record);
    } catch (error) {
      screen?.dispose();
      await output.close();
      await store.remove(record.process_id);
      throw error;
    }
  }

  get record(): ProcessRecord {
    return this.#record;
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#parts.handle.write(bytes);
  }

  async endInput(): Promise<void> {
    await this.#parts.handle.endInput();
  }

  async press(keys: readonly string[]): Promise<void> {
    if (this.#parts.screen === undefined) throw noTerminal('Keys were to be pressed');
    await this.write(bytesOfKeys(keys, this.#parts.screen.hasApplicationCursorKeys));
  }

  async resize(size: TerminalSize): Promise<void> {
    await this.#parts.handle.resize(size);
    this.#size = size;
    this.#parts.screen?.resize(size.columns, size.rows);
  }

  async signal(name: NodeJS.Signals): Promise<void> {
    await this.#parts.handle.signal(name);
  }

  async kill(first: NodeJS.Signals) {
    const killed = await this.#parts.handle.kill(first);
    if (killed.left === 0) await this.ended;
    return killed;
  }

  async stats() {
    return await this.#parts.handle.stats();
  }

  async printed(): Promise<OutputBytes> {
    await this.#parts.output.written();
    return this.#parts.output.bytes;
  }

  async untilPrints(printedBytes: number, limitMs: number): Promise<void> {
    if (this.#parts.output.totalBytes > printedBytes || this.#record.status === 'terminated') return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        timer.dispose();
        printed.dispose();
        ended.dispose();
        resolve();
      };
      const timer = this.#parts.clock.after(limitMs, done);
      const printed = this.#parts.output.onPrinted(done);
      const ended = this.#done.event(done);
    });
  }

  async screen(): Promise<ScreenText> {
    const shown = await this.#shown();
    if (shown === undefined) throw noTerminal('Its screen was asked for');
    return shown;
  }

  /** Waits no longer for a disk that does not take the end. */
  dispose(): void {
    this.#leaving.abort();
  }

  /** True when the end is on disk. */
  async #end(exit: ProcessExit): Promise<boolean> {
    await this.#parts.output.close();
    const shown = await this.#shown();
    this.#parts.screen?.dispose();
    this.#record = {
      ...this.#record,
      status: 'terminated',
      exit_code: exit.code ?? null,
      signal: exit.signal ?? null,
      out_of_memory: exit.outOfMemory,
      reason: exit.reason ?? null,
      ended_at: exit.endedAt.toISOString(),
      screen: shown?.text ?? null,
    };
    const isRecorded = await this.#writeEnd('warn');
    this.#done.fire();
    this.#done.dispose();
    return isRecorded;
  }

  /** What is shown when everything printed so far has been drawn. */
  async #shown(): Promise<ScreenText | undefined> {
    if (this.#parts.screen === undefined || this.#size === null) return undefined;
    await this.#parts.screen.parsed();
    const snapshot = this.#parts.screen.snapshot();
    return { text: snapshot.text(), cursor: snapshot.cursor, size: this.#size };
  }

  async #untilRecorded(isFirstDone: boolean): Promise<void> {
    const { signal } = this.#leaving;
    for (let isDone = isFirstDone; !isDone && !signal.aborted; isDone = await this.#writeEnd('debug'))
      await sleep(this.#parts.clock, RETRY_MS, signal);
  }

  /** False when it is to be tried again. */
  async #writeEnd(level: 'warn' | 'debug'): Promise<boolean> {
    const { store, logger } = this.#parts;
    try {
      await store.write(this.#record);
      return true;
    } catch (error) {
      const { process_id: id } = this.#record;
      logger[level]('the end of a process could not be recorded', { process: id, error: messageOf(error) });
      // Its folder was removed: nothing is to be read there.
      return error instanceof BridgeError && systemCodeOf(error.cause) === 'ENOENT';
    }
  }
}

/** Output goes to the files and to the screen, and its source waits for the slower one. */
function shown(output: ProcessOutput, screen: Screen): OutputSink {
  return {
    write: (stream, bytes) => allWaits([output.write(stream, bytes), screen.feed(bytes)]),
  };
}

function noTerminal(what: string): BridgeError {
  return new BridgeError(
    'NO_TERMINAL',
    `${what}, and the process has no terminal.`,
    'Start it with tty to give it one; a process with pipes takes text.',
  );
}
