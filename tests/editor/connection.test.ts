import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { get } from 'node:http';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { silentLogger } from '../../src/base/logger.js';
import {
  BridgeServer,
  type PortHolder,
  type ServerOptions,
} from '../../vscode/src/connection/bridge-server.js';
import { untoldPrograms } from '../../vscode/src/connection/untold-programs.js';
import { EditorClient } from '../harness/editor-client.js';
import { ManualClock } from '../harness/manual-clock.js';
import { until } from '../harness/until.js';

const POLICY_VIOLATION = 1008;
const TOO_BIG = 1009;

const TOKEN_FILE = '/home/me/.local/state/claude-code-bridge/editors/editor_1.json';

let clock: ManualClock;
let server: BridgeServer;
let untold: string[];

beforeEach(async () => {
  clock = new ManualClock();
  untold = [];
  server = await start({});
});

async function start(changes: Partial<ServerOptions>): Promise<BridgeServer> {
  const one = await BridgeServer.start({
    port: undefined,
    holderOf: async () => undefined,
    allowWithoutToken: false,
    tokenFile: TOKEN_FILE,
    onUntold: (name) => untold.push(name),
    clock,
    logger: silentLogger,
    welcome: (id) => ({ type: 'welcome', id, v: 1, version: '0', trusted: true, folders: [] }),
    answer: async (request) => ({ type: 'pong', id: request.id }),
    ...changes,
  });
  onTestFinished(() => one.dispose());
  return one;
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
    const refused = await client.ask({ type: 'ping' });
    expect(refused).toMatchObject({ type: 'error', code: 'NO_TOKEN' });
    // What a program that knows the first messages alone reads of it.
    const said = 'error' in refused ? refused.error : '';
    expect(said).toContain(TOKEN_FILE);
    expect(said).toContain('claudeTerminalBridge.allowWithoutToken');
    expect((await closed)[0]).toBe(POLICY_VIOLATION);
    const silent = await EditorClient.connect(place(), {});
    const ended = once(silent.socket, 'close');
    clock.advance(10_000);
    const [code, reason] = await ended;
    expect([code, String(reason)]).toEqual([POLICY_VIOLATION, expect.stringContaining('allowWithoutToken')]);
    expect(untold).toEqual(['a program', 'a program']);
  });

  test('is reported to the person when it shows no token; a page, and a program that shows another token, are not', async () => {
    await refusal({ origin: 'http://evil.example' });
    await refusal({ authorization: 'Bearer wrong' });
    for (const hello of [
      { type: 'hello', token: 'wrong', client: 'stale' },
      { type: 'hello', client: 'new' },
    ] as const) {
      const client = await EditorClient.connect(place(), {});
      const closed = once(client.socket, 'close');
      expect(await client.ask(hello)).toMatchObject({ code: 'NO_TOKEN' });
      await closed;
    }
    expect(untold).toEqual(['new']);
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

describe('a fixed port', () => {
  const holder: PortHolder = { name: 'the window of VS Code with /a', isLeaving: false, isBefore: false };

  /** A port that another program has until it is closed. */
  async function taken(): Promise<{ readonly port: number; readonly free: () => Promise<void> }> {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const free = () => new Promise<void>((resolve) => void other.close(() => resolve()));
    onTestFinished(free);
    return { port, free };
  }

  test('that is taken is tried once, is named with its owner, and is tried again when the person connects', async () => {
    const { port, free } = await taken();
    const unknown = await start({ port });
    expect(unknown.elsewhere).toBe(`port ${port} is taken by another program: run Connect when it is free`);
    const second = await start({ port, holderOf: async () => holder });
    expect(second.elsewhere).toContain('is taken by the window of VS Code with /a');
    const first = second.port;
    await free();
    expect(clock.timerCount).toBe(0);
    const program = await EditorClient.connect(place(second));
    await second.listen();
    expect([second.port, second.elsewhere]).toEqual([port, undefined]);
    // What was connected stays.
    expect(await program.ask({ type: 'ping' })).toMatchObject({ type: 'pong' });
    await program.close();
    await expect(EditorClient.connect({ ...place(second), port: first })).rejects.toThrow('ECONNREFUSED');
  });

  test('is waited for while this window, as it was before, is leaving', async () => {
    const { port, free } = await taken();
    const starting = start({
      port,
      holderOf: async () => ({ ...holder, isLeaving: true, isBefore: true }),
    });
    await until('it waits', () => clock.timerCount === 1);
    clock.advance(250);
    await until('it waits again', () => clock.timerCount === 1);
    await free();
    clock.advance(250);
    expect((await starting).port).toBe(port);
  });

  test('is left to another window that is loaded again, also where it is free', async () => {
    const { port, free } = await taken();
    await free();
    const other = await start({ port, holderOf: async () => ({ ...holder, isLeaving: true }) });
    expect(other.port).not.toBe(port);
    expect(other.elsewhere).toContain(holder.name);
  });
});

describe('the notification about programs without a token', () => {
  test('comes once for each program and for five in all, shows the log, or lets them in, but not by a press within half a second', async () => {
    const allow = 'Allow Clients without a Token';
    const presses: [button: string, afterMs: number][] = [
      ['Show the Log', 0],
      [allow, 499],
      [allow, 500],
    ];
    const done: string[] = [];
    const refused = untoldPrograms({
      ask: async (message) => {
        done.push(/"(.*?)"/.exec(message)?.[1] ?? message);
        const [button, afterMs] = presses.shift() ?? [undefined, 0];
        clock.advance(afterMs);
        return button;
      },
      allow: async () => void done.push('allowed'),
      showLog: () => void done.push('log'),
      clock,
    });
    for (const name of ['a', 'a', 'b', 'c', 'b', 'd', 'e', 'f']) await refused(name);
    expect(done).toEqual(['a', 'log', 'b', 'b', 'allowed', 'c', 'd', 'e']);
  });

  test('changes a setting that no workspace can set', async () => {
    const text = await readFile(join(import.meta.dirname, '../../vscode/package.json'), 'utf8');
    expect(text).toMatch(
      /allowWithoutToken": \{\s+"type": "boolean",\s+"default": false,\s+"scope": "machine"/,
    );
  });
});
