import type { IncomingMessage } from 'node:http';
import { toDisposable, type Disposable } from '../../base/lifecycle.js';

/** A session has a few at a time: one for each tool call that is asked about. */
const MAX_CONNECTIONS = 128;
/** Bodies that are not whole yet, all together; two of the largest fit. */
const MAX_ARRIVING_BYTES = 16 * 1024 * 1024;

type Socket = IncomingMessage['socket'];

export interface ArrivingBody extends Disposable {
  grew(bytes: number): void;
}

/**
 * The connections of a hooks server. Claude Code's own requests arrive within milliseconds: where there are too many, or
 * where too much is arriving, the one that has been on its way the longest is dropped. A request that waits for its answer is
 * never dropped.
 */
export class HookConnections {
  /** In the order in which they came, or in which their last answer was sent. */
  readonly #open = new Set<Socket>();
  /** Bytes of each body that is not whole yet, the oldest first. */
  readonly #arriving = new Map<Socket, number>();
  readonly #answering = new Set<Socket>();

  add(socket: Socket): void {
    this.#open.add(socket);
    socket.on('close', () => this.#open.delete(socket));
    if (this.#open.size <= MAX_CONNECTIONS) return;
    const oldest = [...this.#open].find((one) => !this.#answering.has(one)) ?? socket;
    oldest.destroy();
    this.#open.delete(oldest);
  }

  /** A body begins to arrive; disposed when it is whole, or does not come any more. */
  arrives(socket: Socket): ArrivingBody {
    this.#arriving.set(socket, 0);
    return {
      grew: (bytes) => {
        this.#arriving.set(socket, (this.#arriving.get(socket) ?? 0) + bytes);
        this.#dropOldest();
      },
      dispose: () => this.#arriving.delete(socket),
    };
  }

  /** The request of this connection waits for its answer until the result is disposed. */
  answers(socket: Socket): Disposable {
    this.#answering.add(socket);
    return toDisposable(() => {
      this.#answering.delete(socket);
      if (!this.#open.delete(socket)) return;
      // It may bring another request, and has been waiting for one from now on.
      this.#open.add(socket);
    });
  }

  #dropOldest(): void {
    let bytes = [...this.#arriving.values()].reduce((sum, one) => sum + one, 0);
    for (const [socket, size] of this.#arriving) {
      if (bytes <= MAX_ARRIVING_BYTES) return;
      bytes -= size;
      this.#arriving.delete(socket);
      socket.destroy();
    }
  }
}
