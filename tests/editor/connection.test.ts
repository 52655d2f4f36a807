import { once } from 'node:events';
import { createServer } from 'node:net';
import { get } from 'node:http';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { silentLogger } from '../../src/base/logger.js';
import { BridgeServer, type ServerOptions } from '../../vscode/src/connection/bridge-server.js';
import { EditorClient } from '../harness/editor-client.js';
import { ManualClock } from '../harness/manual-clock.js';

const POLICY_VIOLATION = 1008;
const TOO_BIG = 1009;

let clock: ManualClock;
let server: BridgeServer;

beforeEach(async () => {
  clock = new ManualClock();
  server = await start({});
});

afterEach(() => server.dispose());

function start(changes: Partial<ServerOptions>): Promise<BridgeServer> {
  return BridgeServer.start({
    port: undefined,
    allowWithoutToken: false,
    clock,
    logger: silentLogger,
    welcome: (id) => ({ type: 'welcome', id, v: 1, version: '0', trusted: true, folders: [] }),
    answer: async (request) => ({ type: 'pong', id: request.id }),
    ...changes,
  });
}

function place(one = server): { readonly port: number; readonly token: string } {
  return { port: one.port, token: one.access.token };
}

/** Why a connection was refused. */
async function refusal(headers: Readonly<Record<string, string>>): Promise<string> {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}`, { headers });
  const [error] = (await once(socket, 'error')) as [Error];
  return error.message;
}

describe('a connection', () => {
  test('with any Origin is refused, with the token too', async () => {
    const authorization = `Bearer ${server.access.token}`;
    for (const origin of [
      'http://evil.example',
      `http://127.0.0.1:${server.port}`,
      'null',
      'vscode-webview://x',
    ])
      expect(await refusal({ origin, authorization })).toContain('403');
  });

  test('to another host is refused, as after a DNS rebinding', async () => {
    const authorization = `Bearer ${server.access.token}`;
    for (const host of ['evil.example', `evil.example:${server.port}`, '127.0.0.1', 'localhost:1'])
      expect(await refusal({ host, authorization })).toContain('421');
    const client = await EditorClient.connect(place(), { host: `localhost:${server.port}`, authorization });
    expect(await client.ask({ type: 'ping' })).toMatchObject({ type: 'pong' });
    await client.close();
  });

  test('with a wrong token is refused', async () => {
    expect(await refusal({ authorization: 'Bearer wrong' })).toContain('401');
    expect(await refusal({ authorization: `Basic ${server.access.token}` })).toContain('401');
    const client = await EditorClient.connect(place(), {});
    const closed = once(client.socket, 'close');
    expect(await client.ask({ type: 'hello', token: 'wrong', client: 'x' })).toMatchObject({
      code: 'NO_TOKEN',
    });
    expect((await closed)[0]).toBe(POLICY_VIOLATION);
  });

  test('without a token gets nothing done, and is closed', async () => {
    const client = await EditorClient.connect(place(), {});
    const closed = once(client.socket, 'close');
    expect(await client.ask({ type: 'ping' })).toMatchObject({ type: 'error', code: 'NO_TOKEN' });
    expect((await closed)[0]).toBe(POLICY_VIOLATION);
    const silent = await EditorClient.connect(place(), {});
    const ended = once(silent.socket, 'close');
    clock.advance(10_000);
    expect((await ended)[0]).toBe(POLICY_VIOLATION);
  });

  test('with the token in its first message or its header is let in', async () => {
    const first = await EditorClient.connect(place(), {});
    const { token } = place();
    expect(await first.ask({ type: 'hello', token, client: 'one' })).toMatchObject({ type: 'welcome' });
    const second = await EditorClient.connect(place());
    expect(await second.ask({ type: 'ping' })).toMatchObject({ type: 'pong' });
    expect(await second.ask({ type: 'hello', client: 'two' })).toMatchObject({ type: 'welcome' });
    expect(server.programs).toEqual(['one', 'two']);
    await Promise.all([first.close(), second.close()]);
  });

  test('without a token is let in where the setting says so, and pages are not', async () => {
    server.dispose();
    server = await start({ allowWithoutToken: true });
    const client = await EditorClient.connect(place(), {});
    expect(await client.ask({ type: 'ping' })).toMatchObject({ type: 'pong' });
    expect(await refusal({ origin: 'http://evil.example' })).toContain('403');
    await client.close();
  });

  test('that does not answer pings ends', async () => {
    const client = await EditorClient.connect(place());
    client.socket.pong = () => undefined;
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}`, {
      headers: { authorization: `Bearer ${server.access.token}` },
      autoPong: false,
    });
    await once(socket, 'open');
    const closed = once(socket, 'close');
    clock.advance(20_000);
    clock.advance(20_000);
    await closed;
    await client.close();
  });

  test('ends with a message that is too long, and gets an error for what is none', async () => {
    const client = await EditorClient.connect(place());
    for (const text of ['{', '[]', '{"type":"ping"}', '{"type":"dance","id":"1"}']) {
      const before = client.messages.length;
      client.socket.send(text);
      expect(await client.message((one) => one.type === 'error', before)).toMatchObject({
        code: 'INVALID_MESSAGE',
      });
    }
    const closed = once(client.socket, 'close');
    client.socket.send('x'.repeat(1024 * 1024 + 1));
    expect((await closed)[0]).toBe(TOO_BIG);
  });

  test('is one of sixteen', async () => {
    const clients = await Promise.all(Array.from({ length: 16 }, () => EditorClient.connect(place())));
    expect(await refusal({ authorization: `Bearer ${server.access.token}` })).toContain('503');
    await Promise.all(clients.map((client) => client.close()));
    await expect.poll(() => server.programs.length).toBe(0);
    const next = await EditorClient.connect(place());
    await next.close();
  });

  test('by plain HTTP is answered with nothing', async () => {
    const status = await new Promise((resolve) =>
      get(`http://127.0.0.1:${server.port}/`, (response) => {
        response.resume();
        resolve(response.statusCode);
      }),
    );
    expect(status).toBe(426);
  });
});

test('a fixed port that is taken is used as soon as it is free', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const address = other.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const second = await start({ port });
  onTestFinished(() => second.dispose());
  const first = second.port;
  expect(first).not.toBe(port);
  await new Promise((resolve) => other.close(resolve));
  const changed = new Promise<void>((resolve) => second.onChange(() => resolve()));
  clock.advance(5_000);
  await changed;
  expect(second.ports).toEqual([first, port]);
  const client = await EditorClient.connect({ port, token: second.access.token });
  expect(await client.ask({ type: 'ping' })).toMatchObject({ type: 'pong' });
  await client.close();
});
