import { request as httpRequest } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HookEvent } from '../../../src/claude/hooks/hook-event.js';
import { HooksServer } from '../../../src/claude/hooks/hooks-server.js';

const stop = JSON.stringify({ session_id: '00000000-0000-4000-8000-000000000000', hook_event_name: 'Stop' });
let server: HooksServer;
let seen: HookEvent[];
let faults: string[];
let answer: (event: HookEvent, gone: AbortSignal) => Promise<Readonly<Record<string, unknown>>>;

beforeEach(async () => {
  seen = [];
  faults = [];
  answer = async () => ({ well: 'yes' });
  server = await HooksServer.start({
    token: 'secret',
    handle: (event, gone) => {
      seen.push(event);
      return answer(event, gone);
    },
    onFault: (text) => faults.push(text),
  });
});
afterEach(() => server.dispose());

const authorized = { authorization: 'Bearer secret' };

function post(body: string, headers: Readonly<Record<string, string>> = authorized, method = 'POST') {
  return fetch(server.url, { method, headers, ...(method === 'GET' ? {} : { body }) });
}

describe('the server for hooks', () => {
  it('hands a hook on and sends its answer', async () => {
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

  it('turns another Host away with 403, the token notwithstanding', async () => {
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

  it('takes POST alone', async () => {
    expect((await post('', authorized, 'GET')).status).toBe(405);
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

  it('turns a body of more than 64 MiB away with 413 and says so', async () => {
    const response = await post('x'.repeat(64 * 1024 * 1024 + 1)).catch(() => undefined);
    // A client that still writes may see the connection cut instead of the answer.
    if (response !== undefined) expect(response.status).toBe(413);
    expect(faults).toEqual(['a hook body was larger than 67108864 bytes and was refused']);
  });

  it('answers 500 when the handler fails, and tells it', async () => {
    answer = () => Promise.reject(new Error('oh no'));
    expect((await post(stop)).status).toBe(500);
    expect(faults).toEqual(['hook request failed: oh no']);
  });

  it('tells the handler when the CLI hangs up', async () => {
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

  it('does not take an answered request for one that hung up', async () => {
    let aborted = false;
    answer = async (_, gone) => {
      gone.addEventListener('abort', () => (aborted = true));
      return {};
    };
    await (await post(stop)).text();
    server.dispose();
    expect(aborted).toBe(false);
  });

  it('is bound to loopback and gone when disposed', async () => {
    expect(new URL(server.url).hostname).toBe('127.0.0.1');
    server.dispose();
    await expect(post(stop)).rejects.toThrow();
  });
});
