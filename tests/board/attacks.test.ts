import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Board } from '../../src/board/board.js';
import { FakeTaskService, taskRecord } from '../tools/fake-task-service.js';
import { ask, serveBoard, TestPage, tokenOf } from './serve-board.js';

const POLICY_VIOLATION = 1008;
const TOO_BIG = 1009;
const NOT_OPENED = 1006;
const json = { 'content-type': 'application/json' };

let board: Board;
let own: string;

beforeEach(async () => {
  board = await serveBoard(new FakeTaskService(taskRecord()));
  own = `http://127.0.0.1:${board.port}`;
});

describe('HTTP', () => {
  test('listens on 127.0.0.1 alone', async () => {
    const socket = connect(board.port, '127.0.0.2');
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
  });

  test('refuses a Host that is not its own, as after a DNS rebinding', async () => {
    for (const host of ['evil.example', `evil.example:${board.port}`, '127.0.0.1', 'localhost:1'])
      expect((await ask(board, '/', { headers: { host } })).status).toBe(421);
    expect((await ask(board, '/', { headers: { host: `localhost:${board.port}` } })).status).toBe(200);
  });

  test('gives no token to a foreign, missing or null Origin', async () => {
    const code = board.link().url.split('#code=')[1] ?? '';
    const body = JSON.stringify({ code });
    for (const headers of [
      { ...json, origin: 'http://evil.example' },
      { ...json, origin: `http://127.0.0.1:${board.port + 1}` },
      { ...json, origin: 'null' },
      json,
    ])
      expect((await ask(board, '/token', { method: 'POST', headers, body })).status).toBe(403);
    // The code was not used up by any of them.
    expect(
      (await ask(board, '/token', { method: 'POST', headers: { ...json, origin: own }, body })).status,
    ).toBe(200);
  });

  test('gives a token for a code once, and none for a guess', async () => {
    const code = board.link().url.split('#code=')[1] ?? '';
    const asked = (body: string) =>
      ask(board, '/token', { method: 'POST', headers: { ...json, origin: own }, body });
    expect((await asked(JSON.stringify({ code }))).status).toBe(200);
    expect((await asked(JSON.stringify({ code }))).status).toBe(401);
    expect((await asked(JSON.stringify({ code: 'guess' }))).status).toBe(401);
    expect((await asked('{"code":1}')).status).toBe(400);
    expect((await asked(JSON.stringify({ code: 'x'.repeat(10_000) }))).status).toBe(400);
  });

  test('proves to a page that it has its token, for its own port alone', async () => {
    const nonce = 'n'.repeat(36);
    const proof = createHmac('sha256', await tokenOf(board))
      .update(`${board.port} ${nonce}`)
      .digest('base64');
    const asked = (body: object) =>
      ask(board, '/token', { method: 'POST', headers: { ...json, origin: own }, body: JSON.stringify(body) });
    expect(JSON.parse((await asked({ nonce })).body)).toEqual({ proof });
    expect((await asked({ nonce: 'short' })).status).toBe(400);
  });

  test('takes JSON alone, answers no OPTIONS and sets no CORS header or cookie', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded', origin: own };
    expect((await ask(board, '/token', { method: 'POST', headers: form, body: 'code=1' })).status).toBe(415);
    const options = await ask(board, '/token', { method: 'OPTIONS', headers: { origin: own } });
    expect(options.status).toBe(405);
    expect((await ask(board, '/', { method: 'DELETE', headers: { origin: own } })).status).toBe(405);
    for (const { headers } of [options, await ask(board, '/'), await ask(board, '/app.js')]) {
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
      expect(headers['set-cookie']).toBeUndefined();
    }
  });

  test('another site may lead to the page, and load nothing of it', async () => {
    const cross = { 'sec-fetch-site': 'cross-site' };
    expect((await ask(board, '/app.js', { headers: cross })).status).toBe(403);
    expect((await ask(board, '/', { headers: { ...cross, 'sec-fetch-mode': 'no-cors' } })).status).toBe(403);
    const link = { ...cross, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect((await ask(board, '/', { headers: link })).status).toBe(200);
    const framed = { ...cross, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' };
    expect((await ask(board, '/', { headers: framed })).status).toBe(403);
    expect((await ask(board, '/', { headers: { origin: 'http://evil.example' } })).status).toBe(403);
  });

  test('every answer forbids foreign scripts, frames, styles and caches', async () => {
    for (const path of ['/', '/app.js', '/nothing']) {
      const { headers } = await ask(board, path);
      const policy = String(headers['content-security-policy']);
      for (const rule of [
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
      ])
        expect(policy).toContain(rule);
      expect(policy).not.toMatch(/unsafe|\*/);
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'cache-control': 'no-store',
      });
    }
  });

  test('the nonce of styles is another one each time', async () => {
    const nonces = await Promise.all(
      [1, 2].map(async () => {
        const { headers, body } = await ask(board, '/');
        const nonce = /content="([\w-]+)"/.exec(body)?.[1] ?? '';
        expect(String(headers['content-security-policy'])).toContain(`'nonce-${nonce}'`);
        return nonce;
      }),
    );
    expect(new Set(nonces).size).toBe(2);
  });

  test('serves its own few files, and no path leads to others', async () => {
    for (const path of [
      '/../package.json',
      '/..%2f..%2fetc/passwd',
      '//etc/passwd',
      '/app.js/..',
      '/app.js%00',
    ])
      expect((await ask(board, path)).status).toBe(404);
  });
});

describe('WebSocket', () => {
  test('is refused to a foreign, missing or null Origin and to a foreign Host', async () => {
    for (const headers of [
      { origin: 'http://evil.example' },
      { origin: `https://127.0.0.1:${board.port}` },
      { origin: `http://127.0.0.1:${board.port + 1}` },
      { origin: 'null' },
      { origin: '' },
      { host: 'evil.example' },
    ]) {
      const page = new TestPage(board, headers);
      page.socket.on('error', () => undefined);
      expect(await page.closed).toBe(NOT_OPENED);
    }
  });

  test('without the token it is closed, and nothing was told', async () => {
    for (const hello of [
      { type: 'hello', v: 1, token: 'guess', client: 'test' },
      { type: 'subscribe', channel: 'board:/' },
      'no json',
      { type: 'hello', v: 1, client: 'test' },
    ]) {
      const page = new TestPage(board);
      await once(page.socket, 'open');
      page.send(hello);
      expect(await page.closed).toBe(POLICY_VIOLATION);
      expect(page.got.filter(({ type }) => type !== 'refused')).toEqual([]);
    }
  });

  test('a message of 2 MB ends the connection', async () => {
    const page = await TestPage.open(board);
    page.send({ type: 'subscribe', channel: 'x'.repeat(2 * 1024 * 1024) });
    expect(await page.closed).toBe(TOO_BIG);
  });

  test('wrong tokens and codes end their own connection, and the board stays open to its owner', async () => {
    for (let guess = 0; guess < 12; guess++) {
      const page = new TestPage(board);
      await once(page.socket, 'open');
      page.send({ type: 'hello', v: 1, token: `guess-${guess}`, client: 'test' });
      await page.closed;
    }
    expect(await tokenOf(board)).not.toBe('');
    await TestPage.open(board);
  });

  test('sixteen pages are served, and the next is told to come later', async () => {
    for (let count = 0; count < 16; count++) await TestPage.open(board);
    const late = new TestPage(board);
    expect(await late.closed).toBe(1013);
  });
});
