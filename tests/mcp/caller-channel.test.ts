import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { CallerChannel } from '../../src/mcp/caller-channel.js';
import { serveConnection } from '../../src/mcp/server.js';
import { FakeTaskService, taskRecord } from '../tools/fake-task-service.js';
import { serverParts } from './serving.js';

/** A client that tries the modern era first, as Claude Code does, at a server with a channel for `wanted`. */
async function connected(name: string, wanted = 'wanted') {
  const channel = new CallerChannel((client) => client.name === wanted);
  const known: string[] = [];
  const parts = serverParts(new FakeTaskService(taskRecord()), {
    channel,
    onClient: (client) => known.push(`${client.name} ${client.version}`),
  });
  const [near, far] = InMemoryTransport.createLinkedPair();
  const connection = serveConnection(parts, far);
  const client = new Client({ name, version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  const received: unknown[] = [];
  client.setNotificationHandler(
    'notifications/claude/channel',
    { params: z.looseObject({ content: z.string() }) },
    (params) => void received.push(params),
  );
  await client.connect(near);
  onTestFinished(async () => {
    await client.close();
    await connection.close();
  });
  return { client, channel, received, known };
}

test('a client of the channel is served in the legacy era, and gets what is sent', async () => {
  const { client, channel, received, known } = await connected('wanted');
  expect(client.getServerCapabilities()?.experimental).toEqual({ 'claude/channel': {} });
  await channel.send('A word.', { task_id: 'task_1' });
  await expect.poll(() => received).toMatchObject([{ content: 'A word.', meta: { task_id: 'task_1' } }]);
  expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  expect(known).toEqual(['wanted 1.0.0']);
});

test('another client is served in its own era, without a channel', async () => {
  const { client, channel, known } = await connected('other');
  expect(client.getServerCapabilities()?.experimental).toBeUndefined();
  await expect(channel.send('A word.', {})).rejects.toThrow('no client of the legacy era');
  expect(known).toEqual(['other 1.0.0']);
});
