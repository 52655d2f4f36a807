import { withinMs, type Clock } from '../base/clock.js';
import type { Disposable } from '../base/lifecycle.js';
import { FloodRelay, RELAY_BYTES, type RelayEnd } from './flood-relay.js';
import type { RawPty } from './load-node-pty.js';
import { ReadOn } from './read-on.js';
import { TerminalStream } from './terminal-stream.js';

/** Printed within FLOOD_MS it is a flood that has the machine to itself: of twenty at once each prints less. */
const FLOOD_BYTES = 8 * 1024 * 1024;
const FLOOD_MS = 2_000;
const LOOK_MS = 1_000;
/** A second with less holds no flood, and after so many of them it is over. */
const CALM_BYTES = 1024 * 1024;
const CALM_LOOKS = 5;
/** How long what was printed before a terminal closed may take to arrive. */
const DRAIN_MS = 1_000;

export interface TerminalReaderOptions {
  readonly pty: RawPty;
  readonly clock: Clock;
  /** Gets what the program prints, in order; valid until it returns. */
  readonly take: (bytes: Buffer) => void;
  readonly relayProgram?: string;
}

/** Reads a terminal: by node-pty's stream and on behind it, and by a process of its own while the program floods it. */
export class TerminalReader implements Disposable {
  readonly #pty: RawPty;
  readonly #clock: Clock;
  readonly #take: (bytes: Buffer) => void;
  readonly #relayProgram: string | undefined;
  readonly #stream: TerminalStream;
  readonly #readOn: ReadOn;
  #relay: FloodRelay | undefined;
  #gone: Promise<void> = Promise.resolve();
  #isUnable = false;
  #isPaused = false;
  #isDisposed = false;
  #sinceMs = -Infinity;
  /** Since `#sinceMs`, or of the relay since the last look. */
  #bytes = 0;
  #calmLooks = 0;
  #timer: Disposable | undefined;

  constructor({ pty, clock, take, relayProgram }: TerminalReaderOptions) {
    this.#pty = pty;
    this.#clock = clock;
    this.#take = take;
    this.#relayProgram = relayProgram;
    this.#stream = new TerminalStream(pty);
    this.#readOn = new ReadOn(pty, this.#stream);
    pty.onData((data) => {
      if (Buffer.isBuffer(data)) this.#read(data);
    });
  }

  pause(): void {
    if (this.#isDisposed) return;
    this.#isPaused = true;
    this.#pty.pause();
    this.#relay?.pause();
  }

  resume(): void {
    if (this.#isDisposed) return;
    this.#isPaused = false;
    this.#pty.resume();
    this.#relay?.resume();
  }

  /** The terminal has closed: resolves when what was printed before has been taken. */
  async drained(): Promise<void> {
    if (this.#relay) await withinMs(this.#clock, DRAIN_MS, this.#gone);
  }

  /** Nothing of this reader is left that runs. */
  get gone(): Promise<void> {
    return this.#gone;
  }

  /** Nothing more is taken. node-pty's stream reads on, since a terminal is seen to close by that alone. */
  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#endRelay();
    this.#pty.resume();
  }

  #read(piece: Buffer): void {
    if (this.#isDisposed) return;
    const bytes = this.#readOn.from(piece);
    this.#take(bytes);
    if (this.#isFlood(bytes.length)) this.#startRelay();
  }

  #isFlood(bytes: number): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#sinceMs > FLOOD_MS) {
      this.#sinceMs = nowMs;
      this.#bytes = 0;
    }
    this.#bytes += bytes;
    return this.#bytes >= FLOOD_BYTES;
  }

  #startRelay(): void {
    if (this.#isUnable || this.#isPaused || this.#isDisposed) return;
    // What waits in the stream comes before what the relay reads.
    if (!this.#stream.isEmpty || !this.#stream.stop()) return;
    this.#bytes = 0;
    this.#calmLooks = 0;
    const program = this.#relayProgram;
    this.#relay = FloodRelay.start({
      fd: this.#pty.fd,
      take: (bytes) => {
        this.#bytes += bytes.length;
        this.#take(bytes);
      },
      ended: (end) => this.#ended(end),
      ...(program !== undefined && { program }),
    });
    if (this.#relay === undefined) {
      this.#isUnable = true;
      return this.#stream.start();
    }
    this.#gone = this.#relay.gone;
    this.#timer = this.#clock.after(LOOK_MS, () => this.#look());
  }

  #look(): void {
    this.#calmLooks = this.#bytes >= CALM_BYTES || this.#isPaused ? 0 : this.#calmLooks + 1;
    this.#bytes = 0;
    if (this.#calmLooks >= CALM_LOOKS) this.#relay?.finish();
    else this.#timer = this.#clock.after(LOOK_MS, () => this.#look());
  }

  #ended(end: RelayEnd): void {
    if (end === 'torn') this.#take(Buffer.from(tornNotice));
    if (end !== 'whole') this.#isUnable = true;
    this.#endRelay();
  }

  #endRelay(): void {
    if (this.#relay === undefined) return;
    this.#timer?.dispose();
    this.#relay.dispose();
    this.#relay = undefined;
    this.#sinceMs = -Infinity;
    this.#stream.start();
  }
}

const tornNotice = `\r\n[claude-code-bridge: the process that read this terminal was ended; up to ${RELAY_BYTES / 1024} KB of output may be missing here]\r\n`;
