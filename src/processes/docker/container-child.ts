import type { Duplex } from 'node:stream';
import type { Child, TerminalSize, WriteResult } from '../../pty/child.js';
import type { ExitStatus } from '../../pty/exit-status.js';
import { writeToStream } from '../../pty/write-to-stream.js';

export interface ContainerChildOptions {
  /** Both directions of the container's first process. */
  readonly stream: Duplex;
  readonly isTerminal: boolean;
  /** The end, when all output is in the sink. Never rejects. */
  readonly exited: Promise<ExitStatus>;
  /** Throws BridgeError when the engine refuses. */
  readonly resize: (size: TerminalSize) => Promise<void>;
  /** Ends the container at once. */
  readonly kill: () => void;
}

/** The first process of a container. It ends with its container, so nothing holds its output open for longer. */
export class ContainerChild implements Child {
  /** This machine cannot signal it. */
  readonly pid = undefined;
  readonly isReaped = false;
  readonly isWrapped = false;
  readonly exited: Promise<ExitStatus>;
  readonly closed: Promise<void>;
  readonly #options: ContainerChildOptions;
  #hasEnded = false;

  constructor(options: ContainerChildOptions) {
    this.#options = options;
    this.exited = options.exited;
    this.closed = options.exited.then(() => {
      this.#hasEnded = true;
      options.stream.destroy();
    });
  }

  write(data: string | Uint8Array): WriteResult {
    return this.#hasEnded ? 'closed' : writeToStream(this.#options.stream, data);
  }

  flushed(): Promise<boolean> {
    return Promise.resolve(true);
  }

  endInput(): boolean {
    const { stream, isTerminal } = this.#options;
    if (isTerminal || !stream.writable) return false;
    stream.end();
    return true;
  }

  async resize(size: TerminalSize): Promise<void> {
    if (this.#options.isTerminal && !this.#hasEnded) await this.#options.resize(size);
  }

  dispose(): void {
    if (!this.#hasEnded) this.#options.kill();
  }
}
