import { sleep, type Clock } from '../../base/clock.js';
import { nextEvent, type Event } from '../../base/event.js';
import type { SessionEvent } from '../session.js';

/** A dialog that a hook answered closes well within this time; until then a key would reach it. */
const CLOSING_MS = 1_000;
const ESCAPE = '\x1b';
const keyNames: Readonly<Record<string, string>> = {
  [ESCAPE]: 'Esc',
  '\x1b[A': 'Up',
  '\x1b[B': 'Down',
  '\r': 'Enter',
  ' ': 'Space',
  '\x03': 'Ctrl-C',
  '\x04': 'Ctrl-D',
  '\x15': 'Ctrl-U',
};

export interface KeyGateOptions {
  readonly clock: Clock;
  /** False when the program accepts no more keys. */
  readonly write: (keys: string) => boolean;
  /** The requests of hooks. While one is open, so is its dialog, whatever the screen shows. */
  readonly requests: { readonly isWaiting: boolean; readonly onDidClose: Event<void> };
  readonly fire: (event: SessionEvent) => void;
}

/**
 * All keys that the bridge presses in a session of Claude Code go through here. It presses none while a request is open, because any
 * program of the agent can paint another screen over the dialog of that request. A person's keys do not pass through here.
 */
export class KeyGate {
  readonly #options: KeyGateOptions;
  #closedAtMs = -Infinity;

  constructor(options: KeyGateOptions) {
    this.#options = options;
    options.requests.onDidClose(() => (this.#closedAtMs = options.clock.monotonicMs()));
  }

  /** A request of a hook is open. */
  get isAsked(): boolean {
    return this.#options.requests.isWaiting;
  }

  /** Presses one key or pastes one text. Presses nothing and returns false while a request, or perhaps its dialog, is open. */
  press(keys: string, why: string): boolean {
    // Esc approves nothing, so it is harmless on a closing dialog.
    if (this.isAsked || (keys !== ESCAPE && this.#closingMs() > 0)) return false;
    if (!this.#options.write(keys)) return false;
    this.#options.fire({ type: 'keys', keys: keyNames[keys] ?? 'text', why });
    return true;
  }

  /** Resolves when keys can be pressed; never while a request stays open. */
  async whenOpen(): Promise<void> {
    const { clock, requests } = this.#options;
    while (this.isAsked || this.#closingMs() > 0) {
      if (this.isAsked) await nextEvent(requests.onDidClose);
      else await sleep(clock, this.#closingMs());
    }
  }

  #closingMs(): number {
    return this.#closedAtMs + CLOSING_MS - this.#options.clock.monotonicMs();
  }
}
