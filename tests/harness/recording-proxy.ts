import { createServer, request } from 'node:http';
import { onTestFinished } from 'vitest';
import { z } from 'zod';

const addressSchema = z.object({ port: z.number() });

/** A proxy that passes plain requests on and opens no tunnel. */
export interface RecordingProxy {
  readonly url: string;
  /** Method and target of each request that came here. */
  readonly seen: readonly string[];
}

/** Listens on a free port of 127.0.0.1 until the test is over. */
export async function recordingProxy(): Promise<RecordingProxy> {
  const seen: string[] = [];
  const server = createServer((asked, answer) => {
    seen.push(`${asked.method} ${asked.url}`);
    const { hostname, port, pathname, search } = new URL(asked.url ?? '');
    const { method, headers } = asked;
    const onward = request({ hostname, port, path: pathname + search, method, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    asked.pipe(onward);
  });
  server.on('connect', ({ url }, socket) => {
    seen.push(`CONNECT ${url}`);
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${addressSchema.parse(server.address()).port}`, seen };
}
