import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { messageOf } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import { parseHookEvent, type HookEvent } from './hook-event.js';

/** A hook body carries a tool's whole input, such as a file to write; more than this is no file a tool writes. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/**
 * Answers one event. `gone` aborts when the CLI no longer waits for the answer: a person answered at the terminal.
 * The result is sent as the hook's JSON output.
 */
export type HookHandler = (event: HookEvent, gone: AbortSignal) => Promise<Readonly<Record<string, unknown>>>;

/**
 * The loopback HTTP server to which one task's CLI posts its hooks. Every request needs the task's bearer token;
 * the Host header must name this server, so that no web page reaches it by a rebound name.
 */
export class HooksServer implements Disposable {
  readonly #server: Server;
  readonly #token: Buffer;
  readonly #handle: HookHandler;
  readonly #onFault: (text: string) => void;
  #port = 0;

  private constructor(token: string, handle: HookHandler, onFault: (text: string) => void) {
    this.#token = Buffer.from(`Bearer ${token}`);
    this.#handle = handle;
    this.#onFault = onFault;
    this.#server = createServer((request, response) => {
      void this.#serve(request, response).catch((fault: unknown) => {
        this.#onFault(`hook request failed: ${messageOf(fault)}`);
        if (!response.headersSent) response.writeHead(500);
        response.end();
      });
    });
    // A permission request is held open until it is decided; the decision's own deadline ends it.
    this.#server.requestTimeout = 0;
    this.#server.headersTimeout = 10_000;
  }

  /** Listens on a free port of 127.0.0.1. */
  static async start(options: {
    readonly token: string;
    readonly handle: HookHandler;
    readonly onFault: (text: string) => void;
  }): Promise<HooksServer> {
    const server = new HooksServer(options.token, options.handle, options.onFault);
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', reject);
      server.#server.listen(0, '127.0.0.1', resolve);
    });
    const address = server.#server.address();
    if (address === null || typeof address === 'string')
      throw new Error('the hooks server has no TCP address');
    server.#port = address.port;
    server.#server.on('error', (fault) => options.onFault(`hooks server: ${fault.message}`));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hooks`;
  }

  dispose(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refusal = this.#refusal(request);
    if (refusal !== undefined) {
      response.writeHead(refusal).end();
      return;
    }
    const body = await readBody(request);
    if (body === undefined) {
      this.#onFault(`a hook body was larger than ${MAX_BODY_BYTES} bytes and was refused`);
      response.writeHead(413, { connection: 'close' }).end();
      return;
    }
    const event = parseHookEvent(parseJson(body));
    if (event === undefined) {
      response.writeHead(400).end();
      return;
    }
    const gone = new AbortController();
    response.on('close', () => {
      if (!response.writableEnded) gone.abort();
    });
    const answer = await this.#handle(event, gone.signal);
    if (gone.signal.aborted) return;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }

  /** The HTTP status with which a request is turned away, or undefined. */
  #refusal(request: IncomingMessage): number | undefined {
    if (request.headers.host !== `127.0.0.1:${this.#port}`) return 403;
    const given = Buffer.from(request.headers.authorization ?? '');
    if (given.length !== this.#token.length || !timingSafeEqual(given, this.#token)) return 401;
    if (request.method !== 'POST') return 405;
    return undefined;
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Text that is no JSON parses as undefined, which is no hook event. */
function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
