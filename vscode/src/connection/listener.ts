import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { MAX_EDITOR_MESSAGE_BYTES } from '../../../src/editor/protocol.js';
import type { Logger } from '../../../src/base/logger.js';

const HOST = '127.0.0.1';
const MAX_CLIENTS = 16;
const TOKEN_BYTES = 32;
const BEARER = /^Bearer +([\w-]+)$/i;

/** Why a connection is refused, with its HTTP status. */
interface Refusal {
  readonly status: 401 | 403 | 421;
  readonly why: string;
}

/** The secret of a window: new for each start, and only in its discovery file. */
export class Access {
  readonly token = randomBytes(TOKEN_BYTES).toString('base64url');

  isToken(shown: string): boolean {
    const own = Buffer.from(this.token);
    const other = Buffer.from(shown);
    return other.length === own.length && timingSafeEqual(own, other);
  }

  /** Whether the header shows the token; undefined without one. */
  inHeaders({ authorization }: IncomingHttpHeaders): boolean | undefined {
    if (authorization === undefined) return undefined;
    const shown = BEARER.exec(authorization)?.[1];
    return shown !== undefined && this.isToken(shown);
  }
}

export interface ListenerOptions {
  readonly access: Access;
  /** Where the token is. */
  readonly tokenFile: string;
  readonly logger: Logger;
  /** How many are connected now. */
  readonly clients: () => number;
  readonly onConnection: (socket: WebSocket, isKnown: boolean) => void;
}

/** Listens on a port of 127.0.0.1 for programs, and refuses what a browser sends before anything else is read. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #http: Server;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_EDITOR_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  #port = 0;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#http = createServer((_request, response) => {
      response.writeHead(426, { connection: 'close', 'content-type': 'text/plain' });
      response.end('Only WebSockets are served here.\n');
    });
    this.#http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  get port(): number {
    return this.#port;
  }

  /** 0 is any free port. Throws the system's error. */
  listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#http.once('error', reject);
      this.#http.listen(port, HOST, () => {
        this.#http.off('error', reject);
        this.#http.on('error', (error) => this.#options.logger.error('The socket failed', { error }));
        const address = this.#http.address();
        this.#port = typeof address === 'object' && address !== null ? address.port : port;
        resolve();
      });
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#sockets.close();
      this.#http.close(() => resolve());
      this.#http.closeAllConnections();
    });
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // A program that has gone.
    socket.on('error', () => socket.destroy());
    const { access, tokenFile, clients, onConnection } = this.#options;
    const shown = access.inHeaders(request.headers);
    const refusal: Refusal | undefined =
      refusalOf(request.headers, this.#port) ??
      (shown === false ? { status: 401, why: `The token of this window is in ${tokenFile}` } : undefined);
    if (refusal !== undefined) return this.#refuse(socket, refusal.status, refusal.why, request);
    if (clients() >= MAX_CLIENTS)
      return this.#refuse(socket, 503, `${MAX_CLIENTS} programs are connected.`, request);
    this.#sockets.handleUpgrade(request, socket, head, (connection) =>
      onConnection(connection, shown === true),
    );
  }

  #refuse(socket: Duplex, status: number, why: string, { headers }: IncomingMessage): void {
    this.#options.logger.warn(`A connection was refused: ${why}`, {
      origin: headers.origin,
      host: headers.host,
    });
    const body = `${why}\n`;
    socket.end(
      `HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  }
}

/** A browser says where its page comes from, a program does not; a page may reach this port under another name. */
function refusalOf({ origin, host }: IncomingHttpHeaders, port: number): Refusal | undefined {
  if (origin !== undefined) return { status: 403, why: 'Pages in a browser may not connect.' };
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`)
    return { status: 421, why: 'This is reached as 127.0.0.1 or localhost alone.' };
  return undefined;
}
