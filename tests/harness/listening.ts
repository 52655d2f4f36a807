import { once } from 'node:events';
import type { Server } from 'node:net';

/** Has the server listen on 127.0.0.1; the port that is free there. */
export async function portOf(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it does not listen');
  return address.port;
}
