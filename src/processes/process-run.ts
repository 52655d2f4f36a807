import { sleep, type Clock } from '../base/clock.js';
import { BridgeError, messageOf, systemCodeOf, ignoreBridgeError } from '../base/errors.js';
import { Emitter } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import type { OutputSink, TerminalSize } from '../pty/child.js';
import type { ExitStatus } from '../pty/exit-status.js';
import { Screen } from '../screen/screen.js';
import { bytesOfKeys } from './keys.js';
import { ProcessOutput } from './output.js';
import {
  noTerminal,
  type OutputBytes,
  type ProcessHandle,
  type ProcessInput,
  type RunningProcess,
  totalOf,
} from './process-handle.js';
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

/** One process that this program runs: its handle, its output on disk, its screen, its record. */
export class ProcessRun implements RunningProcess {
  readonly ended: Promise<ProcessRecord>;
  readonly recorded: Promise<void>;
  readonly signal: RunningProcess['signal'];
  readonly stats: RunningProcess['stats'];
  readonly #parts: ProcessRunParts;
  readonly #handle: ProcessHandle;
  readonly #output: ProcessOutput;
  readonly #screen: Screen | undefined;
  readonly #leaving = new AbortController();
  readonly #done = new Emitter<void>();
  #record: ProcessRecord;

  private constructor(
    parts: ProcessRunParts,
    record: ProcessRecord,
    handle: ProcessHandle,
    shown: { readonly output: ProcessOutput; readonly screen: Screen | undefined },
  ) {
    this.#parts = parts;
    this.#record = record;
    this.#handle = handle;
    this.#output = shown.output;
    this.#screen = shown.screen;
    this.signal = (name) => handle.signal(name);
    this.stats = () => handle.stats();
    const end = handle.exited.then((exit) => this.#end(exit));
    this.ended = end.then(() => this.#record);
    this.recorded = end.then((isRecorded) => this.#untilRecorded(isRecorded));
  }

  /** Writes the record and starts the process with the sink of its output. Throws BridgeError; nothing is left then. */
  static async start(
    parts: ProcessRunParts,
    record: ProcessRecord,
    start: (sink: OutputSink) => Promise<ProcessHandle>,
  ): Promise<ProcessRun> {
    const { store, clock, logger, maxOutputBytes } = parts;
    const { process_id: id, tty: size } = record;
    const output = new ProcessOutput({
      folder: await store.create(record),
      maxBytes: maxOutputBytes,
      onError: (error) =>
        logger.warn('output of a process cannot be written', { process: id, error: messageOf(error) }),
    });
    let starting: Promise<ProcessHandle> | undefined;
    // What the terminal answers to a question; a program that ends meanwhile needs no answer.
    const reply = (text: string): void =>
      void starting?.then((one) => one.write(Buffer.from(text, 'latin1'))).catch(ignoreBridgeError);
    // Before the process: its first bytes come while it is still being started.
    const screen =
      size === null ? undefined : new Screen({ ...size, scrollback: SCROLLBACK_LINES, clock, reply });
    const sink: OutputSink = {
      write: (stream, bytes) => {
        output.write(stream, bytes);
        return screen?.feed(bytes);
      },
    };
    try {
      starting = start(sink);
      return new ProcessRun(parts, record, await starting, { output, screen });
    } catch (error) {
      screen?.dispose();
      await output.close();
      await store.remove(id);
      throw error;
    }
  }

  get record(): ProcessRecord {
    return this.#record;
  }

  async give({ size, text = '', keys = [], eof = false }: ProcessInput): Promise<void> {
    const [handle, screen] = [this.#handle, this.#screen];
    if (size !== undefined) {
      await handle.resize(size);
      screen?.resize(size.columns, size.rows);
    }
    if (text !== '') await handle.write(Buffer.from(text));
    if (keys.length > 0) {
      if (screen === undefined) throw noTerminal('Keys were to be pressed');
      await handle.write(bytesOfKeys(keys, screen.hasApplicationCursorKeys));
    }
    if (eof) await handle.endInput();
  }

  async kill(first: NodeJS.Signals): Promise<number> {
    const left = await this.#handle.kill(first);
    if (left === 0) await this.ended;
    return left;
  }

  async printed(beyond = -1, limitMs = 0): Promise<OutputBytes> {
    if (totalOf(this.#output.bytes) <= beyond && this.#record.status === 'running')
      await new Promise<void>((resolve) => {
        const done = (): void => {
          for (const one of waits) one.dispose();
          resolve();
        };
        const waits = [
          this.#parts.clock.after(limitMs, done),
          this.#output.onPrinted(done),
          this.#done.event(done),
        ];
      });
    return this.#output.bytes;
  }

  async screen(): Promise<TerminalSize & { readonly text: string }> {
    if (this.#screen === undefined) throw noTerminal('Its screen was asked for');
    // When everything printed so far has been drawn.
    await this.#screen.parsed();
    const shown = this.#screen.snapshot();
    return { text: shown.text(), columns: shown.columns, rows: shown.rows };
  }

  /** Waits no longer for a disk that does not take the end. */
  dispose(): void {
    this.#leaving.abort();
  }

  /** True when the end is on disk. */
  async #end(exit: ExitStatus): Promise<boolean> {
    const endedAt = new Date(this.#parts.clock.now());
    await this.#output.close();
    const shown = this.#screen === undefined ? null : (await this.screen()).text;
    this.#screen?.dispose();
    this.#record = {
      ...this.#record,
      status: 'terminated',
      exit_code: exit.code ?? null,
      signal: exit.signal ?? null,
      out_of_memory: exit.outOfMemory ?? false,
      reason: exit.reason ?? null,
      ended_at: endedAt.toISOString(),
      screen: shown,
    };
    const isRecorded = await this.#writeEnd('warn');
    this.#done.fire();
    this.#done.dispose();
    return isRecorded;
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
