import type { RawPty } from './load-node-pty.js';

/**
 * The stream by which node-pty reads a terminal. What is asked of it here neither node-pty nor Node documents, so each
 * part may be missing: then nothing is read but by the stream itself.
 */
export class TerminalStream {
  readonly #pty: RawPty;

  constructor(pty: RawPty) {
    this.#pty = pty;
  }

  /** Nothing that was read earlier waits in the stream (after a pause), and its descriptor is open. */
  get isEmpty(): boolean {
    const stream = this.#stream;
    return (
      stream !== undefined &&
      Reflect.get(stream, 'readableLength') === 0 &&
      Reflect.get(stream, 'destroyed') === false
    );
  }

  /** Reads nothing from now on, until `start`; what is told to pause and to resume meanwhile holds from then on. False when it goes on. */
  stop(): boolean {
    return this.#tell('readStop');
  }

  start(): void {
    this.#tell('readStart');
  }

  /** What the event loop is told by the stream's own handle. */
  #tell(name: 'readStop' | 'readStart'): boolean {
    const handle = this.#stream && asObject(Reflect.get(this.#stream, '_handle'));
    const method: unknown = handle && Reflect.get(handle, name);
    if (handle === undefined || typeof method !== 'function') return false;
    return Reflect.apply(method, handle, []) === 0;
  }

  get #stream(): object | undefined {
    return asObject(Reflect.get(this.#pty, '_socket'));
  }
}

function asObject(value: unknown): object | undefined {
  return typeof value === 'object' && value !== null ? value : undefined;
}
