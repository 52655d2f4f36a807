import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { postWebhook } from '../../../src/keeper/notices/open-notices.js';
import { HastyClock } from '../../harness/hasty-clock.js';
import { portOf } from '../../harness/listening.js';
import { tempFolder } from '../../harness/temp-folder.js';

const notice = {
  kind: 'decision' as const,
  id: 'task_1-dec_1',
  title: 'Claude Code asks in shop',
  words: 'Bash(rm secret-file)',
  facts: { task_id: 'task_1', project: 'shop', tool: 'Bash' },
};
const never = new AbortController().signal;

interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers with one status after the other, the last one for all that follow. */
async function receiver(
  ...statuses: readonly number[]
): Promise<{ readonly url: string; readonly got: readonly Delivery[] }> {
  const got: Delivery[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const status = statuses[Math.min(got.length, statuses.length - 1)] ?? 200;
      got.push({ headers: request.headers, body });
      response.writeHead(status, { location: '/elsewhere' }).end('words of the receiver');
    });
  });
  const port = await portOf(server);
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { url: `http://127.0.0.1:${port}/hook`, got };
}

async function secretFile(secret: string): Promise<string> {
  const folder = await tempFolder();
  await writeFile(join(folder, 'secret'), `${secret}\n`);
  return join(folder, 'secret');
}

it.each([
  ['a secret as it is', 'a long secret', Buffer.from('a long secret')],
  ['a secret in base64', `whsec_${Buffer.from([1, 2, 255]).toString('base64')}`, Buffer.from([1, 2, 255])],
])('is signed with %s', async (_, secret, key) => {
  const { url, got } = await receiver(200);
  await postWebhook(notice, { url, secretFile: await secretFile(secret), clock: new HastyClock() }, never);
  const [{ headers, body } = { headers: {}, body: '' }] = got;
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  expect(headers['webhook-signature']).toBe(
    `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
  );
  expect(JSON.parse(body)).toMatchObject({ type: 'task.decision', data: notice.facts });
});

it('is sent again, under the same id, while the receiver is in trouble', async () => {
  const { url, got } = await receiver(503, 429, 204);
  await postWebhook(notice, { url, secretFile: null, clock: new HastyClock() }, never);
  expect(got.map(({ headers }) => headers['webhook-id'])).toEqual([notice.id, notice.id, notice.id]);
});

it('is given up after three tries', async () => {
  const { url, got } = await receiver(500);
  await expect(
    postWebhook(notice, { url, secretFile: null, clock: new HastyClock() }, never),
  ).rejects.toThrow('it answered with HTTP status 500');
  expect(got).toHaveLength(3);
});

it('is not sent again to a receiver that refuses it', async () => {
  const { url, got } = await receiver(403);
  await expect(
    postWebhook(notice, { url, secretFile: null, clock: new HastyClock() }, never),
  ).rejects.toThrow('it answered with HTTP status 403');
  expect(got).toHaveLength(1);
});

it('follows no redirect', async () => {
  const { url, got } = await receiver(302);
  await expect(
    postWebhook(notice, { url, secretFile: null, clock: new HastyClock() }, never),
  ).rejects.toThrow('it cannot be reached');
  expect(got.every(({ headers }) => headers['webhook-id'] === notice.id)).toBe(true);
});

it('the error names no part of the address', async () => {
  const url = 'http://127.0.0.1:1/hook?token=abc';
  const failed = postWebhook(notice, { url, secretFile: null, clock: new HastyClock() }, never);
  await expect(failed).rejects.toThrow(/^it cannot be reached: (?!.*token)/);
});
