import { existsSync } from 'node:fs';
import type { Clock } from '../base/clock.js';
import type { PtySession } from '../pty/pty-session.js';
import { TerminalRecording } from '../store/terminal-recording.js';

/** The size of every terminal that a driver opens. */
const COLUMNS = 120;
const ROWS = 40;

export interface TerminalFilesOptions {
  readonly path: string;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly onError: (fault: unknown) => void;
}

/** Records a terminal, and holds its program back while the disk does not keep up. The file is made by the first output. */
export class TerminalFiles {
  readonly #options: TerminalFilesOptions;
  #recording: TerminalRecording | undefined;
  #isHeldBack = false;
  #size = { columns: COLUMNS, rows: ROWS };
  #state: () => string = () => '';
  #hasBegun = false;
  #faults = 0;
  /** Of recordings that were removed while they were written. */
  #lostBefore = 0;

  constructor(options: TerminalFilesOptions) {
    this.#options = options;
  }

  /** Where a file that begins in the middle of a session gets what is shown then. */
  stateFrom(read: () => string): void {
    this.#state = read;
  }

  output(bytes: Buffer, session: PtySession): void {
    this.#recording ??= new TerminalRecording({
      ...this.#options,
      onError: (fault) => {
        this.#faults++;
        this.#options.onError(fault);
      },
      ...this.#size,
      initialState: () => this.#initialState(),
    });
    const recording = this.#recording;
    recording.output(bytes);
    if (!recording.isFull || this.#isHeldBack) return;
    this.#isHeldBack = true;
    session.pause();
    const drained = recording.onDrain(() => {
      drained.dispose();
      this.#isHeldBack = false;
      session.resume();
    });
  }

  /** Keys of a person who is attached. */
  typed(text: string): void {
    this.#recording?.input(text);
  }

  resized(columns: number, rows: number): void {
    this.#size = { columns, rows };
    this.#recording?.resize(columns, rows);
  }

  /** Bytes of the recording that the disk did not take. */
  get lostBytes(): number {
    return this.#lostBefore + (this.#recording?.lostBytes ?? 0);
  }

  /** Writes out what waits. A recording that was removed meanwhile is begun anew by the next output. */
  async write(): Promise<'written' | 'removed' | 'failing'> {
    const recording = this.#recording;
    if (recording === undefined) return 'written';
    const before = this.#faults;
    await recording.flush();
    if (this.#faults > before) return 'failing';
    if (existsSync(this.#options.path)) return 'written';
    this.#recording = undefined;
    await recording.close();
    this.#lostBefore += recording.lostBytes;
    return 'removed';
  }

  /** The first file begins with the session itself, which its own output shows; it is written when some of that is drawn already. */
  #initialState(): string {
    if (this.#hasBegun) return this.#state();
    this.#hasBegun = true;
    return '';
  }

  async close(): Promise<void> {
    await this.#recording?.close();
  }
}
