import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
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

const NONCE_MARK = '__STYLE_NONCE__';
const SOCKET_PATH = '/socket';
const TOKEN_PATH = '/token';
/** The delay before a wrong code is refused. */
const WRONG_CODE_MS = 500;
const HOST = '127.0.0.1';
const MAX_BODY_BYTES = 4_096;
const NONCE_BYTES = 16;
/** A request head that takes longer than this is not from a page. */
const HEADERS_LIMIT_MS = 10_000;
const OK = 200;

const tokenRequestSchema = z.union([
  z.object({ code: z.string().max(100) }),
  z.object({ nonce: z.string().min(20).max(100) }),
]);

interface Answer extends Asset {
  readonly status: number;
  /** Of the styles that the page makes. */
  readonly nonce?: string;
}

/** The page's HTTP server, on loopback alone. */
export interface BoardHttpServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens on 127.0.0.1; `port` 0 chooses a free one. Rejects with the system's error, such as EADDRINUSE. */
export async function listenForPages(options: BoardHttpOptions, port: number): Promise<BoardHttpServer> {
  const { logger, onUpgrade } = options;
  const server = createServer({ headersTimeout: HEADERS_LIMIT_MS });
  // A client that sends no HTTP.
  server.on('clientError', (_error, socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, () => resolve());
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  const answers = new Answers(options, address.port);
  server.on('request', (request, response) => {
    void answers.to(request).then(({ status, type, body, nonce }) => {
      // What is left of a body is not read.
      request.resume();
      response.writeHead(status, {
        ...answers.headers(nonce),
        'content-type': type,
        'content-length': body.length,
        ...(status !== OK && { connection: 'close' }),
      });
      response.end(request.method === 'HEAD' ? undefined : body);
    });
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // A browser whose page is gone.
    socket.on('error', () => socket.destroy());
    if (answers.mayConnect(request)) return onUpgrade(request, socket, head);
    logger.warn('A connection was refused', { origin: request.headers.origin ?? 'missing' });
    socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
  });
  return {
    port: address.port,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** What requests to a port get. */
class Answers {
  readonly #options: BoardHttpOptions;
  readonly #port: number;
  readonly #hosts: readonly string[];
  readonly #origins: readonly string[];

  constructor(options: BoardHttpOptions, port: number) {
    this.#options = options;
    this.#port = port;
    this.#hosts = [`${HOST}:${port}`, `localhost:${port}`];
    this.#origins = this.#hosts.map((host) => `http://${host}`);
  }

  /** Never rejects. */
  async to(request: IncomingMessage): Promise<Answer> {
    const path = pathOf(request);
    try {
      const refusal = this.#refusal(request, path);
      if (refusal !== undefined) return refusal;
      return request.method === 'POST' ? await this.#tokenFor(request) : this.#file(path);
    } catch (error) {
      this.#options.logger.error('A request of a page failed', { error: messageOf(error) });
      return refused(500, 'An error in the board itself.');
    }
  }

  mayConnect(request: IncomingMessage): boolean {
    const { host, origin } = request.headers;
    return (
      pathOf(request) === SOCKET_PATH &&
      this.#hosts.includes(host ?? '') &&
      this.#origins.includes(origin ?? '')
    );
  }

  headers(nonce?: string): Record<string, string> {
    const styles = nonce === undefined ? "'self'" : `'self' 'nonce-${nonce}'`;
    return {
      'content-security-policy': [
        "default-src 'none'",
        "script-src 'self'",
        `style-src ${styles}`,
        `connect-src 'self' ${this.#hosts.map((host) => `ws://${host}`).join(' ')}`,
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

  /** By Host, Origin and kind of a request, before anything else is read. */
  #refusal({ method, headers }: IncomingMessage, path: string): Answer | undefined {
    if (!this.#hosts.includes(headers.host ?? ''))
      return refused(421, 'The board is reached by its own address alone.');
    const isRead = method === 'GET' || method === 'HEAD';
    // A link in another page may lead here; nothing else of another site may.
    const isOpened =
      path === '/' &&
      method === 'GET' &&
      headers['sec-fetch-mode'] === 'navigate' &&
      headers['sec-fetch-dest'] === 'document';
    const isForeign = headers['sec-fetch-site'] === 'cross-site' && !isOpened;
    const isOwn = this.#origins.includes(headers.origin ?? '');
    // Only a browser sends an Origin with a GET, and then only for another site.
    if (isForeign || (isRead && headers.origin !== undefined && !isOwn))
      return refused(403, 'Another site asked for this.');
    if (isRead) return undefined;
    if (method !== 'POST' || path !== TOKEN_PATH) return refused(405, 'This is not served.');
    if (!isOwn) return refused(403, 'Only the page of this board may ask for this.');
    if (!/^application\/json(;|$)/.test(headers['content-type'] ?? ''))
      return refused(415, 'The body must be JSON.');
    return undefined;
  }

  #file(path: string): Answer {
    const asset = this.#options.assets.get(path);
    if (asset === undefined) return refused(404, 'There is no such page.');
    if (path !== '/') return { status: OK, ...asset };
    const nonce = randomBytes(NONCE_BYTES).toString('base64url');
    const body = Buffer.from(asset.body.toString('utf8').replaceAll(NONCE_MARK, nonce));
    return { status: OK, type: asset.type, body, nonce };
  }

  async #tokenFor(request: IncomingMessage): Promise<Answer> {
    const { access, clock } = this.#options;
    // Node reads no more than is announced; what announces nothing is not from a page.
    const isShort = Number(request.headers['content-length']) <= MAX_BODY_BYTES;
    const body: unknown = isShort ? await json(request).catch(() => undefined) : undefined;
    const asked = tokenRequestSchema.safeParse(body).data;
    if (asked === undefined) return refused(400, 'The body must be {"code": "…"}.');
    if ('nonce' in asked) return given({ proof: access.proof(asked.nonce, this.#port) });
    const token = access.exchange(asked.code);
    if (token !== undefined) return given({ token });
    await sleep(clock, WRONG_CODE_MS);
    return refused(401, 'Used before, or too old.');
  }
}

function given(value: object): Answer {
  return { status: OK, type: 'application/json', body: Buffer.from(JSON.stringify(value)) };
}

function refused(status: number, why: string): Answer {
  return { status, type: 'text/plain; charset=utf-8', body: Buffer.from(`${why}\n`) };
}

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '/';
}
