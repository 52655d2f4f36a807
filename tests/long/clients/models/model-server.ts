import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { portOf } from '../../../harness/listening.js';

/** What one request of a client shows its model. */
export interface ModelRequest {
  /** Names of the tools that are offered, as the client writes them. */
  readonly tools: readonly string[];
  /** Texts of the tool results that follow the model's last turn. */
  readonly results: readonly string[];
  /** All texts of the user and of the system. */
  readonly text: string;
}

/** A call by the name that the request offers. */
export interface ModelCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** What the scripted model does: it speaks, or calls one tool. */
export type ModelTurn = { readonly say: string } | { readonly call: ModelCall };

export type ModelScript = (request: ModelRequest) => ModelTurn;

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
  dispose(): Promise<void>;
}

/** Serves the APIs on a free port of 127.0.0.1. A script that throws ends the request with status 500. */
export async function startModelServer(apis: readonly ModelApi[], script: ModelScript): Promise<ModelServer> {
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = new URL(request.url ?? '/', 'http://127.0.0.1').pathname;
    const said = await text(request);
    const body: unknown = said === '' ? undefined : JSON.parse(said);
    for (const api of apis) {
      const answer = api({ path, body }, script);
      if (answer === undefined) continue;
      const type = 'events' in answer ? 'text/event-stream' : 'application/json';
      response.writeHead(200, { 'content-type': type });
      response.end('events' in answer ? answer.events : JSON.stringify(answer.json));
      return;
    }
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"not found"}}');
  };
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: String(error) } }));
    });
  });
  return {
    url: `http://127.0.0.1:${await portOf(server)}`,
    dispose: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
