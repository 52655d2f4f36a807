import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';

/** Where a machine that runs api-forwarder.mjs finds the API. */
export const FORWARDED_API = 'http://127.0.0.1:4711';

/** A socket that leads to the API: sockets in a folder are no matter of a network. */
export async function openApiSocket(path: string, apiUrl: string): Promise<Server> {
  const { hostname, port } = new URL(apiUrl);
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    near.pipe(far).on('error', () => near.destroy());
    far.pipe(near).on('error', () => far.destroy());
  });
  server.listen(path);
  await once(server, 'listening');
  await chmod(path, 0o666);
  return server;
}
