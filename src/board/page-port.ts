import type { WebSocket } from 'ws';
import { messageOf } from '../base/errors.js';
import { Emitter, type Disposable, type Event } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';

/** Close code of RFC 6455 (policy violation). */
const REFUSED = 1008;

/** A connection to one page: a WebSocket, or a channel of the line from another machine. */
export interface PagePort extends Disposable {
  /** A text is one message of the page. */
  readonly onData: Event<string | Uint8Array>;
  readonly onClose: Event<unknown>;
  /** Sent, and not taken yet: characters and bytes. */
  readonly queued: number;
  send(data: string | Uint8Array): void;
  /** So much of what came was handled. */
  taken(count: number): void;
  /** Ends it, with the reason for the page. */
  refuse(why: string): void;
}

/** A browser, or the extension of an editor. */
export function socketPort(socket: WebSocket, logger: Logger): PagePort {
  const data = new Emitter<string | Uint8Array>();
  const closed = new Emitter<unknown>();
  socket.on('message', (raw, isBinary) =>
    data.fire(!isBinary && Buffer.isBuffer(raw) ? raw.toString() : new Uint8Array()),
  );
  // Its close follows.
  socket.on('error', (error) => logger.debug('The connection of a page failed', { error: messageOf(error) }));
  socket.on('close', (code) => closed.fire(code));
  return {
    onData: data.event,
    onClose: closed.event,
    get queued() {
      return socket.bufferedAmount;
    },
    send: (message) => {
      if (socket.readyState === socket.OPEN) socket.send(message);
    },
    taken: () => undefined,
    refuse: (why) => socket.close(REFUSED, why),
    dispose: () => socket.terminate(),
  };
}
