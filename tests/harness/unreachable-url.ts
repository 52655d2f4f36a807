import { once } from 'node:events';
import { createServer } from 'node:http';
import { portOf } from './listening.js';

/** The address of a port of this machine that was free a moment ago, and at which nothing listens. */
export async function unreachableUrl(): Promise<string> {
  const server = createServer();
  const port = await portOf(server);
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}
