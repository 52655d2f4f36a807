import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** As an engine refuses a container: its words reach who asked, so a test sees that this one was asked. */
const answer: RequestListener = (request, response) => {
  const isPing = request.url?.endsWith('/_ping') === true;
  response.writeHead(isPing ? 200 : 500, { 'Content-Type': 'application/json' });
  response.end(isPing ? 'OK' : '{"message":"a fake engine has no containers"}');
};

/** Answers as an engine that is there, at a socket; over TLS, at a port of loopback. Gives its `DOCKER_HOST`. */
export async function startFakeEngine(at: string | ServerOptions): Promise<string> {
  const server = typeof at === 'string' ? createServer(answer) : createTlsServer(at, answer);
  if (typeof at === 'string') server.listen(at);
  else server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') return `unix://${at}`;
  return `tcp://localhost:${address.port}`;
}

export interface WrittenContext {
  readonly name: string;
  /** `meta.json`, whole: what is no text is written as JSON. */
  readonly meta: unknown;
  /** Files beside it for TLS, by their name. */
  readonly pem?: Readonly<Record<string, Buffer>>;
}

/** Writes a context into a folder of Docker's settings as the `docker` command does, and gives the path of its file. */
export async function writeContext(configDir: string, { name, meta, pem }: WrittenContext): Promise<string> {
  const hash = createHash('sha256').update(name).digest('hex');
  const file = join(configDir, 'contexts', 'meta', hash, 'meta.json');
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, typeof meta === 'string' ? meta : JSON.stringify(meta));
  const tlsFolder = join(configDir, 'contexts', 'tls', hash, 'docker');
  if (pem !== undefined) await mkdir(tlsFolder, { recursive: true });
  for (const [one, bytes] of Object.entries(pem ?? {})) await writeFile(join(tlsFolder, one), bytes);
  return file;
}

/** `meta.json` of a context. */
export function contextAt(host: string, skipTlsVerify = false): object {
  return { Name: 'x', Metadata: {}, Endpoints: { docker: { Host: host, SkipTLSVerify: skipTlsVerify } } };
}
