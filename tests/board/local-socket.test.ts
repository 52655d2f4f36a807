import { join } from 'node:path';
import { stat } from 'node:fs/promises';
import { request } from 'node:http';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { BridgeError } from '../../src/base/errors.js';
import { silentLogger } from '../../src/base/logger.js';
import { askBoard, type LocalRequest } from '../../src/board/local-client.js';
import { serveLocal, type LocalRoutes } from '../../src/board/local-socket.js';
import { createWorkplace } from '../harness/workplace.js';

let socketPath: string;

async function serve(routes: LocalRoutes): Promise<void> {
  const served = await serveLocal(socketPath, routes, silentLogger);
  onTestFinished(() => served.close());
}

function ask(path: string, more: Partial<LocalRequest<unknown>> = {}): Promise<unknown> {
  return askBoard(socketPath, { path, body: {}, answer: z.unknown(), isRepeatable: true, ...more });
}

beforeEach(async () => {
  const workplace = await createWorkplace();
  onTestFinished(() => workplace.remove());
  socketPath = join(workplace.root, 'b.sock');
});

test('is for this user alone, and answers what it is asked', async () => {
  await serve({ '/read': async (asked) => ({ asked }) });
  expect((await stat(socketPath)).mode & 0o077).toBe(0);
  expect(await ask('/read', { body: { one: 1 } })).toEqual({ asked: { one: 1 } });
});

test('a request whose asker has gone is aborted', async () => {
  let aborted: () => void;
  let called: () => void;
  const isAborted = new Promise<void>((resolve) => (aborted = resolve));
  const isCalled = new Promise<void>((resolve) => (called = resolve));
  await serve({
    '/read': (_asked, signal) => {
      called();
      return new Promise((resolve) =>
        signal.addEventListener('abort', () => {
          aborted();
          resolve({});
        }),
      );
    },
  });
  const asker = new AbortController();
  const refused = expect(ask('/read', { signal: asker.signal })).rejects.toThrow();
  await isCalled;
  asker.abort();
  await refused;
  await isAborted;
});

test('the error of the board is that of the asker', async () => {
  await serve({
    '/act': async () => {
      throw new BridgeError('INVALID_ARGUMENTS', 'Not understood.', 'Ask again.');
    },
  });
  await expect(ask('/act')).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS', hint: 'Ask again.' });
});

test('a board of another version is named as one', async () => {
  await serve({});
  await expect(ask('/read')).rejects.toThrow('another version');
  await expect(ask('/constructor')).rejects.toThrow('another version');
});

test('where no board listens there is no answer; one that ends is asked again only for what may be done twice', async () => {
  expect(await ask('/read')).toBeUndefined();
  await serve({ '/read': () => Promise.reject(new Error('never read')) });
  const broken = await serveLocal(
    `${socketPath}2`,
    { '/act': () => new Promise(() => undefined) },
    silentLogger,
  );
  const asked = askBoard(`${socketPath}2`, {
    path: '/act',
    body: {},
    answer: z.unknown(),
    isRepeatable: false,
  });
  const refused = expect(asked).rejects.toMatchObject({ code: 'STATE_UNUSABLE' });
  await expect.poll(() => stat(`${socketPath}2`).then(() => true)).toBe(true);
  setImmediate(() => void broken.close());
  await refused;
});

test('a request that is too large or no JSON is refused, and the next one is answered', async () => {
  await serve({ '/read': async () => ({ ok: true }) });
  const post = (body: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const asking = request({ socketPath, path: '/read', method: 'POST' }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asking.on('error', reject);
      asking.end(body);
    });
  expect(await post('{')).toBe(500);
  expect(await post(JSON.stringify('x'.repeat(1_100_000)))).toBe(400);
  expect(await ask('/read')).toEqual({ ok: true });
});
