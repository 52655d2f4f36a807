import type { IncomingMessage } from 'node:http';
import { toDisposable, type Disposable } from '../../base/lifecycle.js';

/** A session has a few at a time: one for each pending permission request. */
const MAX_CONNECTIONS = 128;
/** The bound of all incomplete bodies together; two of the largest fit. */
const MAX_ARRIVING_BYTES = 16 * 1024 * 1024;

type Socket = IncomingMessage['socket'];

export interface ArrivingBody extends Disposable {
  grew(bytes: number): void;
}

/**
 * The connections of a hooks server. Claude Code's own requests arrive within milliseconds, so when there are too many connections or
 * too many incomplete bodies, the oldest is dropped. A request that waits for its answer is never dropped.
 */
export class HookConnections {
  /** In the order in which they connected, or got their last answer. */
  readonly #open = new Set<Socket>();
  /** The bytes of each incomplete body, oldest first. */
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

  /** A body starts to arrive. Dispose the result when it is complete or has failed. */
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
      // It may send another request, and counts as waiting for one from now on.
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
