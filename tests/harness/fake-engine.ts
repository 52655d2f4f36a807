import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

const answer: RequestListener = (_request, response) => void response.end('OK');

/** Answers OK to whatever an engine is asked, at a socket or, over TLS, at a port of loopback. Gives its `DOCKER_HOST`. */
export async function startFakeEngine(at: string | ServerOptions): Promise<string> {
  const server = typeof at === 'string' ? createServer(answer) : createTlsServer(at, answer);
  if (typeof at === 'string') await mkdir(dirname(at), { recursive: true });
  await once(typeof at === 'string' ? server.listen(at) : server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null
    ? `tcp://localhost:${address.port}`
    : `unix://${address}`;
}

/** Writes a context as the `docker` command does: `meta`, text or an address, and files for TLS by their names. */
export async function writeContext(
  configDir: string,
  name: string,
  meta: string | { readonly Host: string; readonly SkipTLSVerify?: boolean },
  pems: Readonly<Record<string, Buffer>> = {},
): Promise<void> {
  const hash = createHash('sha256').update(name).digest('hex');
  const text = typeof meta === 'string' ? meta : JSON.stringify({ Name: name, Endpoints: { docker: meta } });
  const files = Object.entries(pems).map(([file, bytes]) => [`tls/${hash}/docker/${file}`, bytes] as const);
  for (const [path, content] of [[`meta/${hash}/meta.json`, text] as const, ...files]) {
    const file = join(configDir, 'contexts', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}
