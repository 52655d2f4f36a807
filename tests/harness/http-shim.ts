import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

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

export interface HttpShim {
  readonly url: string;
  /** Ends the server processes and stops listening. */
  dispose(): Promise<void>;
}

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
 * era. It passes messages on as they are, and knows none of the rules that HTTP adds to the protocol.
 */
export async function startHttpShim(server: {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}): Promise<HttpShim> {
  const processes = new Map<string, StdioServer>();
  const processOf = (key: string): StdioServer => {
    const known = processes.get(key);
    if (known !== undefined) return known;
    const made = new StdioServer(server.command, server.args, server.env);
    // The first request of a connection settles its era.
    if (key === MODERN) made.send(FIRST);
    processes.set(key, made);
    return made;
  };
  const http = createServer((request, response) => {
    handle(request, response, processes, processOf).catch((error: unknown) =>
      response.writeHead(400).end(String(error)),
    );
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const address = http.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    dispose: async () => {
      const closed = once(http, 'close');
      http.close();
      http.closeAllConnections();
      await Promise.all([closed, ...[...processes.values()].map((one) => one.end())]);
    },
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  processes: Map<string, StdioServer>,
  processOf: (key: string) => StdioServer,
): Promise<void> {
  const session = headerOf(request, SESSION);
  if (request.method !== 'POST') {
    const ended = request.method === 'DELETE' && session !== undefined ? processes.get(session) : undefined;
    if (session !== undefined && ended !== undefined) processes.delete(session);
    await ended?.end();
    response.writeHead(ended === undefined ? 405 : 200).end();
    return;
  }
  const message = messageSchema.parse(JSON.parse(await bodyOf(request)));
  const isModern = session === undefined && message.method !== 'initialize';
  const key = isModern ? MODERN : (session ?? randomUUID());
  if (session !== undefined && !processes.has(session)) return void response.writeHead(404).end();
  if (!isModern) response.setHeader(SESSION, key);
  const target = processOf(key);
  if (message.id !== undefined && message.method !== undefined)
    return target.request(message, message.id, response);
  target.send(message);
  response.writeHead(202).end();
}

function write(response: ServerResponse, message: Message): void {
  response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
