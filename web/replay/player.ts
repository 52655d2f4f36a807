import { signal } from '@preact/signals';
import type { Terminal } from '@xterm/xterm';
import type { ActionError } from '../../src/board/protocol.js';
import { cutTime, momentAt } from '../../src/board/replay/cut-time.js';
import type {
  ReplayEvent,
  ReplayPlace,
  ReplayScreenAt,
  ReplayState,
} from '../../src/board/replay/replay-state.js';
import type { Store } from '../store.js';

/** A page that was not drawn for a while goes on where it was. */
const MAX_STEP_MS = 250;
/** More is asked for when less than this is there, in characters. */
const READ_AHEAD_CHARS = 512 * 1024;
/** The terminal is given no more while so much is not shown yet. */
const MAX_UNSHOWN_CHARS = 1024 * 1024;

/** Plays a recording in a terminal. */
export class Player {
  /** The moment that is shown, in milliseconds since the recording began. */
  readonly atMs = signal(0);
  readonly isPlaying = signal(false);
  readonly speed = signal(1);
  readonly cutsPauses = signal(true);
  readonly error = signal<ActionError | undefined>(undefined);
  readonly #store: Store;
  readonly #taskId: string;
  readonly #terminal: Terminal;
  readonly #state: () => ReplayState | undefined;
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
  #frame = 0;
  #drawnAtMs = 0;
  #isDisposed = false;

  constructor(store: Store, taskId: string, terminal: Terminal, state: () => ReplayState | undefined) {
    this.#store = store;
    this.#taskId = taskId;
    this.#terminal = terminal;
    this.#state = state;
  }

  /** From the end it plays from the beginning. */
  toggle(): void {
    const state = this.#state();
    if (state === undefined) return;
    this.isPlaying.value = !this.isPlaying.value;
    if (!this.isPlaying.value) return;
    if (!state.is_live && this.atMs.value >= state.ready_ms) this.seek(state.first_ms);
    this.#drawnAtMs = performance.now();
    this.#tickLater();
  }

  /** Shows a moment. While one is on its way only the last one that was wanted is asked for. */
  seek(ms: number): void {
    const state = this.#state();
    if (state === undefined) return;
    this.#wantedMs = Math.max(state.first_ms, Math.min(ms, state.ready_ms));
    this.atMs.value = this.#wantedMs;
    if (!this.#isSeeking) void this.#seekWanted();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.isPlaying.value = false;
    cancelAnimationFrame(this.#frame);
  }

  async #seekWanted(): Promise<void> {
    this.#isSeeking = true;
    while (this.#wantedMs !== undefined && !this.#isDisposed) {
      const ms = this.#wantedMs;
      this.#wantedMs = undefined;
      const outcome = await this.#store.act({ type: 'replay.seek', task_id: this.#taskId, ms });
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
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame((nowMs) => {
      if (!this.isPlaying.value) return;
      const stepMs = Math.max(0, Math.min(MAX_STEP_MS, nowMs - this.#drawnAtMs));
      this.#drawnAtMs = nowMs;
      const state = this.#state();
      if (state !== undefined && !this.#isSeeking) this.#advance(state, stepMs);
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
    void this.#store.act({ type: 'replay.read', task_id: this.#taskId, from }).then((outcome) => {
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
    else this.#behindWrites(() => this.#terminal.resize(columns, rows));
  }

  #begin(columns: number, rows: number): void {
    this.#behindWrites(() => {
      this.#terminal.reset();
      this.#terminal.resize(columns, rows);
    });
  }

  /** What is written is shown later, and all else must keep its order. */
  #behindWrites(act: () => void): void {
    this.#terminal.write('', act);
  }

  #write(text: string): void {
    this.#unshownChars += text.length;
    this.#terminal.write(text, () => (this.#unshownChars -= text.length));
  }

  #fail(error: ActionError): void {
    this.isPlaying.value = false;
    this.error.value = error;
  }
}
