import type { Disposable } from '../../base/lifecycle.js';
import { Emulator } from '../../screen/emulator.js';
import type { ShownEvent } from './placed-events.js';
import type { Size } from './recorded-line.js';

/** The emulator is given so much at once: each time costs it a turn of the event loop. */
const WRITE_CHARS = 256 * 1024;

/** The screen of a recording at one place in it. */
export class ReplayScreen implements Disposable {
  #size: Size;
  #emulator: Emulator;
  #text = '';

  private constructor(size: Size) {
    this.#size = size;
    this.#emulator = emulatorOf(size);
  }

  /** `state`: what `state()` gave for a terminal of this size. */
  static async at(size: Size, state: string): Promise<ReplayScreen> {
    const screen = new ReplayScreen(size);
    await screen.#write(state);
    return screen;
  }

  get size(): Size {
    return this.#size;
  }

  /** Resolves when the next event may be shown; undefined for at once. */
  show(event: ShownEvent): Promise<void> | undefined {
    if (event.kind !== 'output') return this.#resized(event);
    this.#text += event.text;
    return this.#text.length < WRITE_CHARS ? undefined : this.#flush();
  }

  /** The bytes that bring a terminal of this size that was just made to this screen. */
  async state(): Promise<string> {
    await this.#flush();
    return this.#emulator.serializer.state(0);
  }

  dispose(): void {
    this.#emulator.dispose();
  }

  async #resized({ kind, size }: Exclude<ShownEvent, { kind: 'output' }>): Promise<void> {
    await this.#flush();
    this.#size = size;
    if (kind === 'resize') {
      this.#emulator.terminal.resize(size.columns, size.rows);
      return;
    }
    this.#emulator.dispose();
    this.#emulator = emulatorOf(size);
  }

  #flush(): Promise<void> {
    const text = this.#text;
    this.#text = '';
    return this.#write(text);
  }

  #write(text: string): Promise<void> {
    if (text === '') return Promise.resolve();
    return new Promise((resolve) => this.#emulator.terminal.write(text, resolve));
  }
}

function emulatorOf(size: Size): Emulator {
  return new Emulator({ ...size, scrollback: 0, reply: () => undefined });
}
