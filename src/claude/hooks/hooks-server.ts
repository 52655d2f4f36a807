import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { messageOf } from '../../base/errors.js';
import { isDeepJson } from '../../base/input.js';
import type { Disposable } from '../../base/lifecycle.js';
import { parseJsonLine } from '../message-content.js';
import { parseHookEvent, type HookEvent } from './hook-event.js';

/** A hook body holds a tool's whole input, such as a file to write, but no tool writes files of this size. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** A session has a few at a time: one for each pending permission request. */
const MAX_CONNECTIONS = 128;
/** The bound of the bodies that arrive or wait; each stays in memory until a person has decided. */
const MAX_PENDING_BYTES = 32 * 1024 * 1024;
/** A request on loopback arrives in milliseconds. */
const ARRIVAL_LIMIT_MS = 10_000;
const CHECK_INTERVAL_MS = 1_000;
/** Claude Code writes the event's name before the tool's input (2.1.197 and 2.1.330). */
const HEAD_BYTES = 64 * 1024;
const PERMISSION_REQUEST = /"hook_event_name":\s*"PermissionRequest"/;

type Socket = IncomingMessage['socket'];

export interface HooksServerOptions {
  readonly token: string;
  /**
   * Answers one event; the result is sent as the hook's JSON output. `gone` aborts when the CLI no longer waits for it, because a
   * person answered at the terminal.
   */
  readonly handle: (event: HookEvent, gone: AbortSignal) => Promise<Readonly<Record<string, unknown>>>;
  readonly onError: (text: string) => void;
}

/** They hold while a request arrives; its answer may take as long as the decision. */
const LIMITS = {
  headersTimeout: ARRIVAL_LIMIT_MS,
  requestTimeout: ARRIVAL_LIMIT_MS,
  connectionsCheckingInterval: CHECK_INTERVAL_MS,
};

/**
 * The loopback HTTP server to which the CLI of one task posts its hooks. Each request needs the task's bearer token, and its Host
 * header must name this server, so that no web page can reach it by DNS rebinding.
 */
export class HooksServer implements Disposable {
  readonly #options: HooksServerOptions;
  readonly #token: Buffer;
  readonly #server: Server;
  /** In the order in which they connected, or got their last answer. */
  readonly #open = new Set<Socket>();
  readonly #answering = new Set<Socket>();
  #pendingBytes = 0;
  #port = 0;

  private constructor(options: HooksServerOptions) {
    this.#options = options;
    this.#token = Buffer.from(`Bearer ${options.token}`);
    this.#server = createServer(LIMITS, (request, response) => {
      void this.#serve(request, response).catch((error: unknown) => {
        options.onError(`hook request failed: ${messageOf(error)}`);
        if (!response.headersSent) response.writeHead(500);
        response.end();
      });
    });
    this.#server.on('connection', (socket) => this.#add(socket));
  }

  /** Listens on a free port of 127.0.0.1. */
  static async start(options: HooksServerOptions): Promise<HooksServer> {
    const made = new HooksServer(options);
    const server = made.#server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.on('error', (error) => options.onError(`hooks server: ${error.message}`));
    const address = server.address();
    if (address === null || typeof address === 'string')
      throw new Error('the hooks server has no TCP address');
    made.#port = address.port;
    return made;
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
    const chunks: Buffer[] = [];
    try {
      const bytes = await this.#readBody(request, chunks);
      const body = Buffer.concat(chunks);
      chunks.splice(0, chunks.length, body);
      const head = body.subarray(0, HEAD_BYTES).toString('latin1');
      if (bytes > MAX_BODY_BYTES) {
        this.#reject(response, 413, head, `its input is larger than ${MAX_BODY_BYTES} bytes`);
      } else if (bytes > body.length) {
        this.#reject(response, 503, head, `the pending requests already use ${MAX_PENDING_BYTES} bytes`);
      } else if (isDeepJson(body)) {
        this.#reject(response, 400, head, 'its input is nested too deeply');
      } else {
        await this.#answer(request, body, response, head);
      }
    } finally {
      for (const chunk of chunks) this.#pendingBytes -= chunk.length;
    }
  }

  /**
   * Of too many connections the oldest is dropped, since the CLI's own requests arrive within milliseconds; never one that waits for its
   * answer.
   */
  #add(socket: Socket): void {
    this.#open.add(socket);
    socket.on('close', () => this.#open.delete(socket));
    if (this.#open.size <= MAX_CONNECTIONS) return;
    const oldest = [...this.#open].find((one) => !this.#answering.has(one)) ?? socket;
    this.#open.delete(oldest);
    oldest.destroy();
  }

  async #answer(
    request: IncomingMessage,
    body: Buffer,
    response: ServerResponse,
    head: string,
  ): Promise<void> {
    const event = parseHookEvent(parseJsonLine(body.toString('utf8')));
    if (event === undefined) {
      response.writeHead(400).end();
      return;
    }
    const gone = new AbortController();
    response.on('close', () => {
      if (!response.writableEnded) gone.abort();
    });
    this.#answering.add(request.socket);
    try {
      const answer = await this.#options.handle(event, gone.signal);
      if (!gone.signal.aborted) send(response, answer);
    } catch (error) {
      this.#reject(response, 500, head, `it could not be handled (${messageOf(error)})`);
    } finally {
      this.#answering.delete(request.socket);
      // It may send another request, and counts as waiting for one from now on.
      if (this.#open.delete(request.socket)) this.#open.add(request.socket);
    }
  }

  /** Denies a permission request with the reason: after an HTTP error the CLI would ask at the terminal, which no one watches. */
  #reject(response: ServerResponse, status: number, head: string, why: string): void {
    this.#options.onError(`A hook of the session was rejected: ${why}`);
    if (PERMISSION_REQUEST.test(head)) {
      const decision = { behavior: 'deny', message: `The request was denied without asking: ${why}.` };
      send(response, { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } });
    } else response.writeHead(status).end();
  }

  /**
   * Reads the body into `chunks`, which count as pending from now on; resolves with its size. What is too large is dropped after its
   * head, but read, because the sender reads the answer only after that.
   */
  async #readBody(request: IncomingMessage, chunks: Buffer[]): Promise<number> {
    let bytes = 0;
    for await (const chunk of request) {
      if (!Buffer.isBuffer(chunk)) continue;
      bytes += chunk.length;
      const isHeld = bytes <= MAX_BODY_BYTES && this.#pendingBytes + chunk.length <= MAX_PENDING_BYTES;
      if (!isHeld && chunks.length > 0) {
        for (const dropped of chunks.splice(1)) this.#pendingBytes -= dropped.length;
        continue;
      }
      this.#pendingBytes += chunk.length;
      chunks.push(chunk);
    }
    return bytes;
  }

  /** The HTTP status for a request that is refused, or undefined. */
  #refusal(request: IncomingMessage): number | undefined {
    if (request.headers.host !== `127.0.0.1:${this.#port}`) return 403;
    const given = Buffer.from(request.headers.authorization ?? '');
    if (given.length !== this.#token.length || !timingSafeEqual(given, this.#token)) return 401;
    if (request.method !== 'POST') return 405;
    return undefined;
  }
}

function send(response: ServerResponse, answer: Readonly<Record<string, unknown>>): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
}
