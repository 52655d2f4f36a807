import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { MAX_EDITOR_MESSAGE_BYTES } from '../../../src/editor/protocol.js';
import type { Logger } from '../../../src/base/logger.js';
import { refusalOf, type Access, type Refusal } from './access.js';

const HOST = '127.0.0.1';
const MAX_CLIENTS = 16;

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
