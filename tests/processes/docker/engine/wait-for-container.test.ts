import { createServer, type ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import type { DockerEngine } from '../../../../src/processes/docker/engine/docker-engine.js';
import { waitForContainer } from '../../../../src/processes/docker/engine/wait-for-container.js';
import { openEngine } from '../open-docker-backend.js';

/** An engine that begins every answer at once, as a real one does for `wait`, and leaves the rest to the test. */
async function openSlowEngine(): Promise<{ engine: DockerEngine; begun: Promise<ServerResponse> }> {
  let tell: (response: ServerResponse) => void = () => undefined;
  const begun = new Promise<ServerResponse>((resolve) => (tell = resolve));
  const server = createServer((request, response) => {
    expect(`${request.method} ${request.url}`).toBe('POST /containers/abc/wait');
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.flushHeaders();
    tell(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server does not listen.');
  const engine = openEngine(`tcp://127.0.0.1:${address.port}`);
  onTestFinished(() => {
    engine.dispose();
    server.closeAllConnections();
    server.close();
  });
  return { engine, begun };
}

test('waits for the end of the answer', async () => {
  const { engine, begun } = await openSlowEngine();
  const waited = engine.call((client, signal) => waitForContainer(client, 'abc', signal));
  (await begun).end('{"StatusCode":0}');
  expect(await waited).toEqual({ kind: 'value', value: 0 });
});

test('ends when the engine dies behind the beginning of its answer', async () => {
  const { engine, begun } = await openSlowEngine();
  const waited = engine.call((client, signal) => waitForContainer(client, 'abc', signal));
  const response = await begun;
  setImmediate(() => response.socket?.end());
  expect(await waited).toMatchObject({ kind: 'unreachable' });
});

test('ends when things are to be looked at anew, however silent the engine is', async () => {
  const { engine, begun } = await openSlowEngine();
  const again = new AbortController();
  const waited = engine.call((client) => waitForContainer(client, 'abc', again.signal));
  await begun;
  again.abort();
  expect(await waited).toMatchObject({ kind: 'unreachable' });
});
