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

  constructor(options: TerminalFilesOptions) {
    this.#options = options;
  }

  output(bytes: Buffer, session: PtySession): void {
    this.#recording ??= new TerminalRecording({ ...this.#options, columns: COLUMNS, rows: ROWS });
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

  async close(): Promise<void> {
    await this.#recording?.close();
  }
}
