import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { HookEvent } from '../../../src/claude/hooks/hook-event.js';
import { HooksServer } from '../../../src/claude/hooks/hooks-server.js';
import { until } from '../../harness/until.js';

const stop = JSON.stringify({ session_id: '00000000-0000-4000-8000-000000000000', hook_event_name: 'Stop' });
let server: HooksServer;
let seen: HookEvent[];
let errors: string[];
let answer: (event: HookEvent, gone: AbortSignal) => Promise<Readonly<Record<string, unknown>>>;

beforeEach(async () => {
  seen = [];
  errors = [];
  answer = async () => ({ well: 'yes' });
  server = await HooksServer.start({
    token: 'secret',
    handle: (event, gone) => {
      seen.push(event);
      return answer(event, gone);
    },
    onError: (text) => errors.push(text),
  });
});
afterEach(() => server.dispose());

const authorized = { authorization: 'Bearer secret' };

function post(body: string, headers: Readonly<Record<string, string>> = authorized, method = 'POST') {
  return fetch(server.url, { method, headers, ...(method === 'GET' ? {} : { body }) });
}

describe('the server for hooks', () => {
  it('passes a hook on and sends its answer', async () => {
    const response = await post(stop);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ well: 'yes' });
    expect(seen.map((event) => event.hook_event_name)).toEqual(['Stop']);
  });

  it.each([
    ['no token', {}],
    ['a wrong token', { authorization: 'Bearer secreT' }],
    ['a longer token', { authorization: 'Bearer secret1' }],
    ['a token of another kind', { authorization: 'Basic secret' }],
  ])('turns %s away with 401', async (_, headers) => {
    expect((await post(stop, headers)).status).toBe(401);
    expect(seen).toEqual([]);
  });

  it('refuses another Host with 403, even with the token', async () => {
    const { port } = new URL(server.url);
    const status = await new Promise((resolve, reject) => {
      const request = httpRequest(
        {
          host: '127.0.0.1',
          port,
          path: '/hooks',
          method: 'POST',
          headers: { ...authorized, host: `evil.example:${port}` },
        },
        (response) => resolve(response.resume().statusCode),
      );
      request.on('error', reject).end(stop);
    });
    expect(status).toBe(403);
    expect(seen).toEqual([]);
  });

  it.each([
    '',
    'no json',
    '[]',
    '{}',
    '{"session_id":1,"hook_event_name":"Stop"}',
    '{"session_id":"--dangerously-skip-permissions","hook_event_name":"Notification"}',
    '{"session_id":"--continue","hook_event_name":"of a newer version"}',
  ])('turns the body %j away with 400', async (body) => {
    expect((await post(body)).status).toBe(400);
    expect(seen).toEqual([]);
  });

  it.each([
    {
      what: 'a body of more than 8 MiB',
      input: `"${'x'.repeat(8 * 1024 * 1024)}"`,
      status: 413,
      why: 'its input is larger than 8388608 bytes',
    },
    {
      what: 'a body that nests deeply',
      input: '['.repeat(100_000) + ']'.repeat(100_000),
      status: 400,
      why: 'its input is nested too deeply',
    },
  ])('turns $what away, denies a permission request by it, and says so', async ({ input, status, why }) => {
    const body = (name: string): string =>
      `{"session_id":"00000000-0000-4000-8000-000000000000","hook_event_name":"${name}","tool_name":"Write","tool_input":{"content":${input}}}`;
    expect((await post(body('PreToolUse'))).status).toBe(status);
    const denied = await post(body('PermissionRequest'));
    expect(denied.status).toBe(200);
    expect(await denied.json()).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PermissionRequest',
        decision: { behavior: 'deny', message: `The request was denied without asking: ${why}.` },
      },
    });
    expect(seen).toEqual([]);
    expect(errors).toEqual(Array(2).fill(`A hook of the session was rejected: ${why}`));
  });

  it('holds 32 MiB of pending requests, and denies more', async () => {
    const release = new AbortController();
    answer = () =>
      new Promise((done) => release.signal.addEventListener('abort', () => done({ well: 'yes' })));
    const large = JSON.stringify({
      session_id: '00000000-0000-4000-8000-000000000000',
      hook_event_name: 'PermissionRequest',
      tool_name: 'Write',
      tool_input: { content: 'x'.repeat(7 * 1024 * 1024) },
    });
    const responses: Promise<Response>[] = [];
    for (let number = 1; number <= 4; number++) {
      responses.push(post(large));
      await until('it was seen', () => expect(seen.length).toBe(number));
    }
    const fifth = await post(large);
    expect(await fifth.text()).toContain(
      '"behavior":"deny","message":"The request was denied without asking',
    );
    release.abort();
    for (const response of responses) expect(await (await response).json()).toEqual({ well: 'yes' });
    answer = async () => ({ well: 'again' });
    expect(await (await post(large)).json()).toEqual({ well: 'again' });
  });

  it('serves a real request next to any number of incomplete ones', async () => {
    const { port } = new URL(server.url);
    const sockets = Array.from({ length: 500 }, () => connect(Number(port), '127.0.0.1'));
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
    for (const [index, socket] of sockets.entries()) {
      socket.on('error', () => undefined);
      if (index % 2 === 0)
        socket.write(
          `POST /hooks HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer secret\r\ncontent-length: 8000000\r\n\r\n{`,
        );
    }
    await Promise.all(sockets.map((socket) => once(socket, 'connect').catch(() => undefined)));
    expect((await post(stop)).status).toBe(200);
    await until('the oldest were dropped', () =>
      expect(sockets.filter((socket) => !socket.destroyed).length).toBeLessThanOrEqual(128),
    );
    expect((await post(stop)).status).toBe(200);
  });

  it('never drops a pending request, however many connections come', async () => {
    const release = new AbortController();
    answer = () =>
      new Promise((done) => release.signal.addEventListener('abort', () => done({ well: 'yes' })));
    const waiting = post(stop);
    await until('it was seen', () => expect(seen.length).toBe(1));
    const { port } = new URL(server.url);
    const sockets = Array.from({ length: 300 }, () => connect(Number(port), '127.0.0.1'));
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
    for (const socket of sockets) socket.on('error', () => undefined);
    await until('many were turned away', () =>
      expect(sockets.filter((socket) => socket.destroyed).length).toBeGreaterThan(150),
    );
    release.abort();
    expect(await (await waiting).json()).toEqual({ well: 'yes' });
  });

  it('notifies the handler when the CLI hangs up', async () => {
    const hungUp = new AbortController();
    const aborted = new Promise<void>((resolve) => {
      answer = (_, gone) =>
        new Promise((done) => {
          gone.addEventListener('abort', () => {
            resolve();
            done({});
          });
          hungUp.abort();
        });
    });
    const response = fetch(server.url, {
      method: 'POST',
      headers: authorized,
      body: stop,
      signal: hungUp.signal,
    }).catch(() => 'cut');
    await aborted;
    expect(await response).toBe('cut');
  });
});
