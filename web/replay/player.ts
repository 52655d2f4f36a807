// Pure.
import { signal } from '@preact/signals';
import type { ActionError, ClientAction } from '../../src/board/protocol.js';
import { cutTime, momentAt } from '../../src/board/replay/cut-time.js';
import type {
  ReplayEvent,
  ReplayPlace,
  ReplayScreenAt,
  ReplayState,
} from '../../src/board/replay/replay-state.js';
import type { Outcome } from '../store.js';

/** A page that was not drawn for a while goes on where it was. */
const MAX_STEP_MS = 250;
/** More is asked for when less than this is there, in characters. */
const READ_AHEAD_CHARS = 512 * 1024;
/** The terminal is given no more while so much is not shown yet. */
const MAX_UNSHOWN_CHARS = 1024 * 1024;

export interface PlayerParts {
  readonly taskId: string;
  readonly act: (action: ClientAction) => Promise<Outcome>;
  readonly terminal: {
    write(text: string, onShown?: () => void): void;
    resize(columns: number, rows: number): void;
    reset(): void;
  };
  readonly state: () => ReplayState;
  /** Calls back when the page is drawn next, until the result is called. */
  readonly onFrame: (act: (nowMs: number) => void) => () => void;
}

/** Plays a recording in a terminal. */
export class Player {
  /** The moment that is shown, in milliseconds since the recording began. */
  readonly atMs = signal(0);
  readonly isPlaying = signal(false);
  readonly speed = signal(1);
  readonly cutsPauses = signal(true);
  readonly error = signal<ActionError | undefined>(undefined);
  readonly #parts: PlayerParts;
  /** What comes after the moment that is shown, as far as it was read; the oldest first. */
  #events: ReplayEvent[] = [];
  #eventChars = 0;
  #next: ReplayPlace | undefined;
  /** Up to here nothing happens that is not in `#events`. */
  #knownMs = 0;
  #isReading = false;
  #isSeeking = false;
  #wantedMs: number | undefined;
  #unshownChars = 0;
  #leaveFrame = (): void => undefined;
  /** When the page was drawn last; undefined where it begins to play. */
  #drawnMs: number | undefined;
  #isDisposed = false;

  constructor(parts: PlayerParts) {
    this.#parts = parts;
  }

  /** From the end it plays from the beginning. */
  toggle(): void {
    const state = this.#parts.state();
    this.isPlaying.value = !this.isPlaying.value;
    if (!this.isPlaying.value) return;
    if (!state.is_live && this.atMs.value >= state.ready_ms) this.seek(state.first_ms);
    this.#drawnMs = undefined;
    this.#tickLater();
  }

  /** Shows a moment. While one is on its way only the last one that was wanted is asked for. */
  seek(ms: number): void {
    const { first_ms, ready_ms } = this.#parts.state();
    this.#wantedMs = Math.max(first_ms, Math.min(ms, ready_ms));
    this.atMs.value = this.#wantedMs;
    if (!this.#isSeeking) void this.#seekWanted();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.isPlaying.value = false;
    this.#leaveFrame();
  }

  async #seekWanted(): Promise<void> {
    this.#isSeeking = true;
    while (this.#wantedMs !== undefined && !this.#isDisposed) {
      const ms = this.#wantedMs;
      this.#wantedMs = undefined;
      const outcome = await this.#parts.act({ type: 'replay.seek', task_id: this.#parts.taskId, ms });
      if (this.#isDisposed) return;
      if (outcome.ok && outcome.screen !== undefined) this.#show(outcome.screen);
      else if (!outcome.ok) this.#fail(outcome.error);
    }
    this.#isSeeking = false;
  }

  #show({ columns, rows, state, next }: ReplayScreenAt): void {
    this.error.value = undefined;
    this.#events = [];
    this.#eventChars = 0;
    this.#next = next;
    this.#knownMs = next.ms;
    this.#begin(columns, rows);
    this.#write(state);
  }

  #tickLater(): void {
    this.#leaveFrame();
    this.#leaveFrame = this.#parts.onFrame((nowMs) => {
      if (!this.isPlaying.value) return;
      const stepMs = Math.min(MAX_STEP_MS, nowMs - (this.#drawnMs ?? nowMs));
      this.#drawnMs = nowMs;
      if (!this.#isSeeking) this.#advance(this.#parts.state(), stepMs);
      if (this.isPlaying.value) this.#tickLater();
    });
  }

  #advance(state: ReplayState, stepMs: number): void {
    this.#readAhead(state);
    if (this.#unshownChars > MAX_UNSHOWN_CHARS) return;
    const at = this.atMs.value;
    const step = stepMs * this.speed.value;
    const wanted = this.cutsPauses.value
      ? momentAt(state.pauses, cutTime(state.pauses, at) + step)
      : at + step;
    const to = Math.max(at, Math.min(wanted, this.#knownMs, state.ready_ms));
    const later = this.#events.findIndex(([ms]) => ms > to);
    for (const event of this.#events.splice(0, later === -1 ? Infinity : later)) this.#happen(event);
    this.atMs.value = to;
    const isOver = to >= state.ready_ms && state.is_ready && !state.is_live && this.#events.length === 0;
    if (isOver) this.isPlaying.value = false;
  }

  #readAhead({ ready_ms }: ReplayState): void {
    const from = this.#next;
    if (from === undefined || this.#isReading || this.#eventChars > READ_AHEAD_CHARS) return;
    if (this.#knownMs >= ready_ms) return;
    this.#isReading = true;
    void this.#parts.act({ type: 'replay.read', task_id: this.#parts.taskId, from }).then((outcome) => {
      this.#isReading = false;
      // A seek came in between.
      if (this.#next !== from || this.#isDisposed) return;
      if (!outcome.ok) return this.#fail(outcome.error);
      if (outcome.piece === undefined) return;
      const { events, next } = outcome.piece;
      this.#events.push(...events);
      for (const [, , text] of events) this.#eventChars += text.length;
      this.#next = next;
      this.#knownMs = events.length === 0 ? ready_ms : next.ms;
    });
  }

  #happen([, kind, text]: ReplayEvent): void {
    this.#eventChars -= text.length;
    if (kind === 'output') return this.#write(text);
    const [columns = 0, rows = 0] = text.split('x').map(Number);
    if (kind === 'begin') this.#begin(columns, rows);
    else this.#behindWrites(() => this.#parts.terminal.resize(columns, rows));
  }

  #begin(columns: number, rows: number): void {
    this.#behindWrites(() => {
      this.#parts.terminal.reset();
      this.#parts.terminal.resize(columns, rows);
    });
  }

  /** What is written is shown later, and all else must keep its order. */
  #behindWrites(act: () => void): void {
    this.#parts.terminal.write('', act);
  }

  #write(text: string): void {
    this.#unshownChars += text.length;
    this.#parts.terminal.write(text, () => (this.#unshownChars -= text.length));
  }

  #fail(error: ActionError): void {
    this.isPlaying.value = false;
    this.error.value = error;
  }
}
