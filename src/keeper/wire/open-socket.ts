import { createConnection, type Socket } from 'node:net';
import { systemCodeOf } from '../../base/errors.js';

/** A keeper that runs accepts at once. */
const CONNECT_LIMIT_MS = 2_000;
/** No socket, no listener, or a keeper that stopped listening before it accepted. */
const NO_LISTENER: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET']);
/** More connections wait to be accepted than the system queues (connect(2), Unix sockets). */
const QUEUE_IS_FULL = 'EAGAIN';

/**
 * A connection to the keeper that listens at `path`, or undefined when nothing listens there. Otherwise rejects with what
 * `failure` returns. `isStuck` is true when the keeper exists and does not accept, false when the connection failed on this side.
 */
export function openSocket(
  path: string,
  failure: (why: string, isStuck: boolean) => Error,
): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    socket.setTimeout(CONNECT_LIMIT_MS, () =>
      socket.destroy(new Error('the keeper did not accept the connection')),
    );
    const onError = (error: Error): void => {
      const code = systemCodeOf(error);
      if (NO_LISTENER.has(code)) resolve(undefined);
      else reject(failure(error.message, code === undefined || code === QUEUE_IS_FULL));
    };
    socket.once('error', onError);
    socket.once('connect', () => {
      socket.setTimeout(0);
      socket.removeListener('error', onError);
      resolve(socket);
    });
  });
}
