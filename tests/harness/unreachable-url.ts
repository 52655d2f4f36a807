import { once } from 'node:events';
import { createServer } from 'node:http';

/** The address of a port of this machine that was free a moment ago, and at which nothing listens. */
export async function unreachableUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('the server had no port');
  return `http://127.0.0.1:${address.port}`;
}
