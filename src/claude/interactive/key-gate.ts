import { sleep, type Clock } from '../../base/clock.js';
import { nextEvent, type Event } from '../../base/event.js';
import type { SessionEvent } from '../session.js';

/** A dialog that a hook has answered goes by itself well within this; until then a key would be pressed on it. */
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
  /** False when the program takes no more keys. */
  readonly write: (keys: string) => boolean;
  /** The requests of hooks. While one is open, its dialog is on the screen, whatever the screen shows. */
  readonly requests: { readonly isWaiting: boolean; readonly onDidClose: Event<void> };
  readonly fire: (event: SessionEvent) => void;
}

/**
 * The only way of the bridge's own keys into a session of Claude Code. It takes none while a request is open, because any
 * program of the agent can paint another screen over the dialog of that request. Keys of a person do not pass here.
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

  /** Presses one key, or pastes one text. False, and nothing is pressed, while a request is open or its dialog may still be there. */
  press(keys: string, why: string): boolean {
    // Esc approves nothing: on a dialog that is closing it does no harm.
    if (this.isAsked || (keys !== ESCAPE && this.#closingMs() > 0)) return false;
    if (!this.#options.write(keys)) return false;
    this.#options.fire({ type: 'keys', keys: keyNames[keys] ?? 'text', why });
    return true;
  }

  /** Resolves when keys are taken; never while a request stays open. */
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
