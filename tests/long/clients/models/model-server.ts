import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { ModelScript } from './model-turns.js';

/** An answer of an API: one JSON document, or server-sent events. */
export type ModelAnswer = { readonly json: unknown } | { readonly events: string };

/** One API: it answers the requests that it knows, and leaves others to the next. */
export type ModelApi = (
  request: { readonly path: string; readonly body: unknown },
  script: ModelScript,
) => ModelAnswer | undefined;

export interface ModelServer {
  /** `http://127.0.0.1:PORT`, without a path. */
  readonly url: string;
  /** What was asked and not known, as `METHOD path`. */
  readonly unknown: readonly string[];
  dispose(): Promise<void>;
}

/** Serves the APIs on a free port of 127.0.0.1. A script that throws ends the request with status 500. */
export async function startModelServer(apis: readonly ModelApi[], script: ModelScript): Promise<ModelServer> {
  const unknown: string[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = new URL(request.url ?? '/', 'http://127.0.0.1').pathname;
    const body = await readJson(request);
    for (const api of apis) {
      const answer = api({ path, body }, script);
      if (answer === undefined) continue;
      const type = 'events' in answer ? 'text/event-stream' : 'application/json';
      response.writeHead(200, { 'content-type': type });
      response.end('events' in answer ? answer.events : JSON.stringify(answer.json));
      return;
    }
    unknown.push(`${request.method ?? ''} ${path}`);
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"not found"}}');
  };
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: String(error) } }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    unknown,
    dispose: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? undefined : JSON.parse(text);
}
