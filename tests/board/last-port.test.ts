import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { atLastPort } from '../../src/board/last-port.js';
import { createWorkplace } from '../harness/workplace.js';

let file = '';
beforeEach(async () => {
  const workplace = await createWorkplace();
  onTestFinished(() => workplace.remove());
  file = join(workplace.root, 'port.json');
});

async function listen(port: number): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port: given } = server.address() as AddressInfo;
  return { port: given, server };
}

it('the next board takes the port of the last one, so that its pages find it', async () => {
  const first = await atLastPort(file, 0, listen);
  first.server.close();
  await once(first.server, 'close');
  expect((await atLastPort(file, 0, listen)).port).toBe(first.port);
});

it('a port that another program has by now is left to it', async () => {
  const first = await atLastPort(file, 0, listen);
  const second = await atLastPort(file, 0, listen);
  expect(second.port).not.toBe(first.port);
});

it('a port that was asked for is not changed, and an error says that it is taken', async () => {
  const first = await atLastPort(file, 0, listen);
  await expect(atLastPort(file, first.port, listen)).rejects.toThrow('EADDRINUSE');
});
