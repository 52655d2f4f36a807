import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { portOf } from './listening.js';

const MODERN = '2026-07-28';
const SESSION = 'mcp-session-id';

const messageSchema = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
});
type Message = z.infer<typeof messageSchema>;

/** A request of no stream: its answer goes nowhere. */
const FIRST: Message = {
  jsonrpc: '2.0',
  id: 'shim',
  method: 'prompts/list',
  params: {
    _meta: {
      [PROTOCOL_VERSION_META_KEY]: MODERN,
      [CLIENT_INFO_META_KEY]: { name: 'shim', version: '1.0.0' },
      [CLIENT_CAPABILITIES_META_KEY]: {},
    },
  },
};

/** One server process over stdio, whose requests come from any number of HTTP connections. */
class StdioServer {
  readonly #child: ChildProcessWithoutNullStreams;
  /** Streams of requests without an answer, by the id that the process knows. */
  readonly #pending = new Map<string, { id: string | number; response: ServerResponse }>();
  #ids = 0;

  constructor(command: string, args: readonly string[], env: Readonly<Record<string, string>>) {
    this.#child = spawn(command, args, { env, stdio: 'pipe' });
    this.#child.stderr.resume();
    this.#child.stdin.on('error', () => undefined); // It has ended: so has its connection.
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#fromServer(line));
  }

  /** The answer goes to `response`, with all that the server says until then. */
  request(message: Message, id: string | number, response: ServerResponse): void {
    const ownId = `shim_${++this.#ids}`;
    response.setHeader('content-type', 'text/event-stream');
    this.#pending.set(ownId, { id, response });
    response.on('close', () => {
      if (!this.#pending.delete(ownId) || !this.#child.stdin.writable) return;
      this.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: ownId } });
    });
    this.send({ ...message, id: ownId });
  }

  send(message: Message): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.stdin.end();
    await ended;
  }

  #fromServer(line: string): void {
    const message = messageSchema.parse(JSON.parse(line));
    const write = (response: ServerResponse, said: Message): boolean =>
      response.write(`event: message\ndata: ${JSON.stringify(said)}\n\n`);
    const asked = message.method === undefined ? this.#pending.get(String(message.id)) : undefined;
    if (message.id === FIRST.id && message.method === undefined) return;
    if (asked === undefined) {
      for (const { response } of this.#pending.values()) write(response, message);
      return;
    }
    this.#pending.delete(String(message.id));
    write(asked.response, { ...message, id: asked.id });
    asked.response.end();
  }
}

/**
 * Serves a server that speaks stdio over HTTP: one process for each session of the legacy era, and one for all of the modern
 * era. It passes messages on as they are, and knows none of the rules that HTTP adds to the protocol. `dispose` ends the
 * server processes and stops listening.
 */
export async function startHttpShim(server: {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}): Promise<{ readonly url: string; dispose(): Promise<void> }> {
  const processes = new Map<string, StdioServer>();

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const session = request.headers[SESSION]?.toString();
    if (request.method !== 'POST') {
      const ended = request.method === 'DELETE' ? processes.get(session ?? '') : undefined;
      if (ended !== undefined) processes.delete(session ?? '');
      await ended?.end();
      return void response.writeHead(ended === undefined ? 405 : 200).end();
    }
    const message = messageSchema.parse(JSON.parse(await text(request)));
    if (session !== undefined && !processes.has(session)) return void response.writeHead(404).end();
    const isModern = session === undefined && message.method !== 'initialize';
    const key = isModern ? MODERN : (session ?? randomUUID());
    if (!isModern) response.setHeader(SESSION, key);
    let target = processes.get(key);
    if (target === undefined) {
      target = new StdioServer(server.command, server.args, server.env);
      // The first request of a connection settles its era.
      if (isModern) target.send(FIRST);
      processes.set(key, target);
    }
    if (message.id !== undefined && message.method !== undefined)
      return target.request(message, message.id, response);
    target.send(message);
    response.writeHead(202).end();
  }

  const http = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.writeHead(400).end(String(error)));
  });
  return {
    url: `http://127.0.0.1:${await portOf(http)}/mcp`,
    dispose: async () => {
      const closed = once(http, 'close');
      http.close();
      http.closeAllConnections();
      await Promise.all([closed, ...[...processes.values()].map((one) => one.end())]);
    },
  };
}
