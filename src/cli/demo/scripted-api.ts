import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { Clock } from '../../base/clock.js';
import { systemClock } from '../../base/system-clock.js';
import {
  parseRequestBody,
  renderEventStream,
  renderMessage,
  type ScriptedRequest,
  type ScriptedTurn,
} from './messages-api.js';

/**
 * What the model does, turn by turn; or a function that decides for each request, subagents included.
 * After the last turn, and to subagents of a list, it says `Done.`
 */
export type Script = readonly ScriptedTurn[] | ((request: ScriptedRequest) => ScriptedTurn);

/** The CLI accepts prompts of a few megabytes; nothing it sends is larger than this. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** Of recorded requests: enough for the longest scenario. */
const MAX_RECORDED = 500;

const LAST_TURN: ScriptedTurn = { say: 'Done.' };
/** Titles and summaries are asked as JSON. */
const SIDE_TURN: ScriptedTurn = { say: '{"title":"A scripted session"}' };

/** Starts the stand-in on a free port of 127.0.0.1. */
export async function startScriptedApi(script: Script, clock: Clock = systemClock): Promise<ScriptedApi> {
  const api = new ScriptedApi(script, clock);
  await api.listen();
  return api;
}

/** A stand-in for the Messages API on loopback: the real CLI runs against it, only the model is scripted. */
export class ScriptedApi {
  readonly #nextTurn: (request: ScriptedRequest) => ScriptedTurn;
  readonly #clock: Clock;
  readonly #server: Server;
  readonly #requests: ScriptedRequest[] = [];
  #turnsServed = 0;
  #answers = 0;
  #port = 0;

  constructor(script: Script, clock: Clock) {
    this.#nextTurn = typeof script === 'function' ? script : oneByOne(script);
    this.#clock = clock;
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch(() => response.destroy()); // The caller hung up, or the script threw: it sees a broken connection.
    });
  }

  /** For ANTHROPIC_BASE_URL. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** What the model received, oldest first; the oldest are dropped above a bound. */
  get requests(): readonly ScriptedRequest[] {
    return this.#requests;
  }

  /** How many turns of the main conversation were asked for, errors included. */
  get turnsServed(): number {
    return this.#turnsServed;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address !== null && typeof address === 'object') this.#port = address.port;
  }

  /** Hangs up on everyone and stops listening. */
  async dispose(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', this.url).pathname;
    const body = await readBody(request);
    if (body === undefined) return sendError(response, 413, 'request_too_large', 'The request is too large.');
    if (path === '/') return void response.writeHead(200).end();
    if (path === '/v1/messages/count_tokens') return sendJson(response, 200, { input_tokens: 10 });
    if (path !== '/v1/messages') return sendError(response, 404, 'not_found_error', `Not found: ${path}`);
    const parsed = parseRequestBody(body);
    if (!parsed) return sendError(response, 400, 'invalid_request_error', 'Not a Messages API request.');
    this.#record(parsed.request);
    await this.#answer(this.#turnFor(parsed.request), parsed.request.model, parsed.wantsStream, response);
  }

  #turnFor(request: ScriptedRequest): ScriptedTurn {
    if (request.kind === 'side') return SIDE_TURN;
    if (request.kind === 'turn') this.#turnsServed++;
    return this.#nextTurn(request);
  }

  async #answer(
    turn: ScriptedTurn,
    model: string,
    wantsStream: boolean,
    response: ServerResponse,
  ): Promise<void> {
    if (turn.delayMs !== undefined) await this.#pause(turn.delayMs, response);
    if (response.destroyed) return;
    if (turn.error) {
      const { status, type, message, headers = {} } = turn.error;
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      return sendError(response, status, type, message);
    }
    const id = `msg_${++this.#answers}`;
    if (!wantsStream) return sendJson(response, 200, renderMessage(turn, model, id));
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(renderEventStream(turn, model, id));
  }

  #pause(delayMs: number, response: ServerResponse): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#clock.after(delayMs, resolve);
      response.once('close', () => {
        timer.dispose();
        resolve();
      });
    });
  }

  #record(request: ScriptedRequest): void {
    this.#requests.push(request);
    if (this.#requests.length > MAX_RECORDED) this.#requests.shift();
  }
}

function oneByOne(turns: readonly ScriptedTurn[]): (request: ScriptedRequest) => ScriptedTurn {
  const queue = turns.flatMap((turn) => Array.from({ length: turn.repeat ?? 1 }, () => turn));
  return (request) => (request.kind === 'turn' ? queue.shift() : undefined) ?? LAST_TURN;
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function sendError(response: ServerResponse, status: number, type: string, message: string): void {
  sendJson(response, status, { type: 'error', error: { type, message } });
}
