import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { MAX_EDITOR_MESSAGE_BYTES } from '../../../src/editor/protocol.js';
import type { Logger } from '../../../src/base/logger.js';

const HOST = '127.0.0.1';
const MAX_CLIENTS = 16;
const TOKEN_BYTES = 32;
const BEARER = /^Bearer +([\w-]+)$/i;

/** The secret of a window: new for each start, and only in its discovery file. */
export class Access {
  readonly token = randomBytes(TOKEN_BYTES).toString('base64url');

  isToken(shown: string): boolean {
    const own = Buffer.from(this.token);
    const other = Buffer.from(shown);
    return other.length === own.length && timingSafeEqual(own, other);
  }
}

export interface ListenerOptions {
  readonly access: Access;
  /** Where the token is. */
  readonly tokenFile: string;
  readonly logger: Logger;
  /** How many are connected now. */
  readonly clients: () => number;
  /** `isKnown`: it has shown the token. */
  readonly onConnection: (socket: WebSocket, isKnown: boolean) => void;
}

export interface Listener {
  readonly port: number;
  close(): void;
}

/**
 * Listens on a port of 127.0.0.1 for programs, and refuses what a browser sends before anything else is read. Port 0 is any free one.
 * Rejects with the system's error.
 */
export async function listen(options: ListenerOptions, wanted: number): Promise<Listener> {
  const { logger, onConnection } = options;
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_EDITOR_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  const http = createServer((_request, response) => {
    response.writeHead(426, { connection: 'close', 'content-type': 'text/plain' });
    response.end('Only WebSockets are served here.\n');
  });
  http.listen(wanted, HOST);
  await once(http, 'listening');
  http.on('error', (error) => logger.error('The socket failed', { error }));
  const address = http.address();
  const port = typeof address === 'object' && address !== null ? address.port : wanted;
  http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // A program that has gone.
    socket.on('error', () => socket.destroy());
    const { authorization, origin, host } = request.headers;
    const refusal = refusalOf(request.headers, port, options);
    if (refusal === undefined)
      return sockets.handleUpgrade(request, socket, head, (connection) =>
        onConnection(connection, authorization !== undefined),
      );
    const [status, why] = refusal;
    logger.warn(`A connection was refused: ${why}`, { origin, host });
    const length = Buffer.byteLength(why) + 1;
    socket.end(
      `HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: ${length}\r\n\r\n${why}\n`,
    );
  });
  return {
    port,
    close: () => {
      sockets.close();
      http.close();
      http.closeAllConnections();
    },
  };
}

/** A browser says where its page comes from, a program does not; a page may reach this port under another name. */
function refusalOf(
  { origin, host, authorization }: IncomingHttpHeaders,
  port: number,
  { access, tokenFile, clients }: ListenerOptions,
): readonly [status: number, why: string] | undefined {
  if (origin !== undefined) return [403, 'Pages in a browser may not connect.'];
  if (host !== `${HOST}:${port}` && host !== `localhost:${port}`)
    return [421, 'This is reached as 127.0.0.1 or localhost alone.'];
  if (authorization !== undefined && !access.isToken(BEARER.exec(authorization)?.[1] ?? ''))
    return [401, `The token of this window is in ${tokenFile}`];
  if (clients() >= MAX_CLIENTS) return [503, `${MAX_CLIENTS} programs are connected.`];
  return undefined;
}
