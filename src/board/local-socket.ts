import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { rm } from 'node:fs/promises';
import { json } from 'node:stream/consumers';
import { BridgeError, messageOf } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { wireErrorOf } from '../keeper/wire/wire-error.js';

const OWNER_ONLY_MASK = 0o077;

/** What the board answers on its socket, by path. `signal` aborts when the asker has gone; what is thrown, the asker gets. */
export type LocalRoutes = Readonly<Record<string, (asked: unknown, signal: AbortSignal) => Promise<object>>>;

/** Answers commands and servers of this user on a Unix socket, in a folder of this user alone. */
export async function serveLocal(
  socketPath: string,
  routes: LocalRoutes,
  logger: Logger,
): Promise<{ close(): Promise<void> }> {
  // Only the holder of the board's lock comes here: what is there was left by one that was killed.
  await rm(socketPath, { force: true });
  const server = createServer((asked, answer) => {
    answerTo(routes, asked, answer).catch((error: unknown) => {
      logger.debug('A request on the socket was not answered', { error: messageOf(error) });
      answer.destroy();
    });
  });
  const mask = process.umask(OWNER_ONLY_MASK);
  try {
    await listen(server, socketPath);
  } finally {
    process.umask(mask);
  }
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answerTo(routes: LocalRoutes, asked: IncomingMessage, answer: ServerResponse): Promise<void> {
  const gone = new AbortController();
  answer.on('close', () => gone.abort());
  const { url = '' } = asked;
  const route = asked.method === 'POST' && Object.hasOwn(routes, url) ? routes[url] : undefined;
  if (route === undefined) {
    asked.resume();
    send(answer, 404, {});
    return;
  }
  try {
    send(answer, 200, await route(await json(asked), gone.signal));
  } catch (error) {
    send(answer, error instanceof BridgeError ? 400 : 500, wireErrorOf(error));
  }
}

function send(answer: ServerResponse, status: number, body: object): void {
  answer.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  answer.end(JSON.stringify(body));
}

function listen(server: Server, socketPath: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, () => resolve());
  });
}
