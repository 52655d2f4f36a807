import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { sleep, type Clock } from '../base/clock.js';
import type { Access } from './access.js';

/** A file of the page. */
export interface Asset {
  readonly type: string;
  readonly body: Buffer;
}

export interface BoardHttpOptions {
  readonly access: Access;
  readonly clock: Clock;
  /** By path; `/` is the shell, in which NONCE_MARK stands for the nonce of its styles. */
  readonly assets: ReadonlyMap<string, Asset>;
  readonly logger: Logger;
  /** A WebSocket that may be opened: its Host and Origin are right. */
  readonly onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

export const NONCE_MARK = '__STYLE_NONCE__';
export const SOCKET_PATH = '/socket';
export const TOKEN_PATH = '/token';
/** The delay before a wrong code is refused. */
const WRONG_CODE_MS = 500;
const HOST = '127.0.0.1';
const MAX_BODY_BYTES = 4_096;
const NONCE_BYTES = 16;
/** A request head that takes longer than this is not from a page. */
const HEADERS_LIMIT_MS = 10_000;

const tokenRequestSchema = z.union([
  z.object({ code: z.string().max(100) }),
  z.object({ nonce: z.string().min(20).max(100) }),
]);

/** Why a request is refused: a status and a sentence for who reads it. */
interface Refusal {
  readonly status: number;
  readonly why: string;
}

/** The page's HTTP server, on loopback alone. */
export class BoardHttpServer {
  readonly #options: BoardHttpOptions;
  readonly #server: Server;
  #port = 0;

  private constructor(options: BoardHttpOptions) {
    this.#options = options;
    this.#server = createServer({ headersTimeout: HEADERS_LIMIT_MS }, (request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        options.logger.error('A request of a page failed', { error: messageOf(error) });
        if (!response.headersSent) response.writeHead(500, this.#headers());
        response.end();
      });
    });
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
    // A client that sends no HTTP.
    this.#server.on('clientError', (_error, socket) => socket.destroy());
  }

  /** Listens on 127.0.0.1; `port` 0 chooses a free one. Rejects with the system's error, such as EADDRINUSE. */
  static async listen(options: BoardHttpOptions, port: number): Promise<BoardHttpServer> {
    const one = new BoardHttpServer(options);
    await new Promise<void>((resolve, reject) => {
      one.#server.once('error', reject);
      one.#server.listen(port, HOST, () => resolve());
    });
    const address = one.#server.address();
    if (address === null || typeof address === 'string') throw new Error('The server has no port.');
    one.#port = address.port;
    return one;
  }

  get port(): number {
    return this.#port;
  }

  get origin(): string {
    return `http://${HOST}:${this.#port}`;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pathname = pathOf(request);
    const refusal = this.#refusal(request, pathname);
    if (refusal !== undefined) {
      this.#refuse(request, response, refusal);
      return;
    }
    if (request.method === 'POST') {
      await this.#answerPost(request, response);
      return;
    }
    const asset = this.#options.assets.get(pathname);
    if (asset === undefined) {
      this.#refuse(request, response, { status: 404, why: 'There is no such page.' });
      return;
    }
    const nonce = randomBytes(NONCE_BYTES).toString('base64url');
    const body =
      pathname === '/' ? Buffer.from(asset.body.toString('utf8').replaceAll(NONCE_MARK, nonce)) : asset.body;
    response.writeHead(200, {
      ...this.#headers(nonce),
      'content-type': asset.type,
      'content-length': body.length,
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  }

  /** Host, Origin and kind of a request, before anything else is read. */
  #refusal({ method, headers }: IncomingMessage, path: string): Refusal | undefined {
    if (!this.#isOwnHost(headers.host))
      return { status: 421, why: 'The board is reached by its own address alone.' };
    const isRead = method === 'GET' || method === 'HEAD';
    // A link in another page may lead here; nothing else of another site may.
    const isOpened =
      path === '/' &&
      method === 'GET' &&
      headers['sec-fetch-mode'] === 'navigate' &&
      headers['sec-fetch-dest'] === 'document';
    const isForeign = headers['sec-fetch-site'] === 'cross-site' && !isOpened;
    // Only a browser sends an Origin with a GET, and then only for another site.
    if (isForeign || (isRead && headers.origin !== undefined && !this.#isOwnOrigin(headers.origin)))
      return { status: 403, why: 'Another site asked for this.' };
    if (isRead) return undefined;
    if (method !== 'POST' || path !== TOKEN_PATH) return { status: 405, why: 'This is not served.' };
    if (!this.#isOwnOrigin(headers.origin))
      return { status: 403, why: 'Only the page of this board may ask for this.' };
    if (!/^application\/json(;|$)/.test(headers['content-type'] ?? ''))
      return { status: 415, why: 'The body must be JSON.' };
    return undefined;
  }

  async #answerPost(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Node reads no more than is announced; what announces nothing is not from a page.
    const isShort = Number(request.headers['content-length']) <= MAX_BODY_BYTES;
    const body: unknown = isShort ? await json(request).catch(() => undefined) : undefined;
    const asked = tokenRequestSchema.safeParse(body);
    if (!asked.success) {
      this.#refuse(request, response, { status: 400, why: 'The body must be {"code": "…"}.' });
      return;
    }
    const answer =
      'nonce' in asked.data
        ? { proof: this.#options.access.proof(asked.data.nonce, this.#port) }
        : { token: this.#options.access.exchange(asked.data.code) };
    if ('token' in answer && answer.token === undefined) {
      await sleep(this.#options.clock, WRONG_CODE_MS);
      this.#refuse(request, response, { status: 401, why: 'Used before, or too old.' });
      return;
    }
    response.writeHead(200, { ...this.#headers(), 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // A browser whose page is gone.
    socket.on('error', () => socket.destroy());
    const { host, origin } = request.headers;
    const isPath = pathOf(request) === SOCKET_PATH;
    if (!isPath || !this.#isOwnHost(host) || !this.#isOwnOrigin(origin)) {
      this.#options.logger.warn('A connection was refused', { origin: origin ?? 'missing' });
      socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    this.#options.onUpgrade(request, socket, head);
  }

  #refuse(request: IncomingMessage, response: ServerResponse, { status, why }: Refusal): void {
    // What is left of a body is not read.
    request.resume();
    response.writeHead(status, {
      ...this.#headers(),
      'content-type': 'text/plain; charset=utf-8',
      connection: 'close',
    });
    response.end(`${why}\n`);
  }

  #isOwnHost(host: string | undefined): boolean {
    return host === `${HOST}:${this.#port}` || host === `localhost:${this.#port}`;
  }

  #isOwnOrigin(origin: string | undefined): boolean {
    return origin === this.origin || origin === `http://localhost:${this.#port}`;
  }

  #headers(nonce?: string): Record<string, string> {
    const sockets = `ws://${HOST}:${this.#port} ws://localhost:${this.#port}`;
    const styles = nonce === undefined ? "'self'" : `'self' 'nonce-${nonce}'`;
    return {
      'content-security-policy': [
        "default-src 'none'",
        "script-src 'self'",
        `style-src ${styles}`,
        `connect-src 'self' ${sockets}`,
        "img-src 'self' data:",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
      ].join('; '),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-store',
    };
  }
}

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '/';
}
