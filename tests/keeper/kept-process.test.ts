import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { createSecret } from '../../src/base/ids.js';
import { readJsonLines, writeJsonLine } from '../../src/keeper/json-lines.js';
import { KeptProcess } from '../../src/keeper/kept-process.js';
import { ProcessKeeperServer } from '../../src/keeper/process-keeper-server.js';
import { processWishSchema, type ProcessWish } from '../../src/keeper/process-messages.js';
import { totalOf, type RunningProcess } from '../../src/processes/running-process.js';
import { waitForOutput } from '../../src/processes/wait-for-output.js';
import { openProcesses, valueOf } from '../processes/open-processes.js';

/** A process of this program, served on a socket, and a connection to it. */
async function kept(script: string, tty = false) {
  const place = await openProcesses();
  const { manager, root, store } = place;
  const path = join(root, `${createSecret().slice(0, 8)}.sock`);
  const running: RunningProcess = valueOf(
    await manager.spawn({
      mode: 'host',
      command: ['/bin/sh', '-c', script],
      commandLine: script,
      cwd: root,
      env: {},
      keep: false,
      ...(tty && { tty: { columns: 80, rows: 24 } }),
    }),
  );
  const server = await ProcessKeeperServer.start(running, path, systemClock);
  const record = { ...running.record, socket_path: path };
  const connect = () => KeptProcess.connect(record, () => store.read(record.process_id));
  const link = await connect();
  if (link === undefined) throw new Error('nobody listens');
  onTestFinished(async () => {
    link.dispose();
    await server.end();
  });
  return { ...place, running, server, link, connect };
}

test('a kept process is told and asked everything over its socket', async () => {
  const { link } = await kept('while read -r x; do echo "got $x"; done; exit 7');
  valueOf(await link.write(Buffer.from('one\n')));
  await link.untilPrints(0, 5_000);
  expect(totalOf(await link.printed())).toBe(8);
  expect(valueOf(await link.stats())).toMatchObject({ processCount: 1 });
  expect(await link.screen()).toMatchObject({ fault: { code: 'NO_TERMINAL' } });
  expect(await link.press(['enter'])).toMatchObject({ fault: { code: 'NO_TERMINAL' } });
  expect(await link.resize({ columns: 10, rows: 10 })).toMatchObject({ fault: { code: 'NO_TERMINAL' } });
  valueOf(await link.endInput());
});

test('a kept process is killed, and its end is told to whoever asked', async () => {
  const { link, running, server } = await kept('exec sleep 60');
  const ended = running.ended.then(() => server.end());
  expect(valueOf(await link.kill('SIGTERM'))).toMatchObject({ exit: { signal: 'SIGTERM' }, left: 0 });
  expect(await link.ended).toMatchObject({ status: 'terminated', signal: 'SIGTERM' });
  await ended;
  expect(await link.write(Buffer.from('late'))).toMatchObject({ fault: { code: 'NOT_RUNNING' } });
});

test('a kept process in a terminal has keys and a screen', async () => {
  const { link } = await kept('echo up; exec cat', true);
  // What is typed earlier is echoed before it.
  await expect.poll(async () => valueOf(await link.screen()).text, { timeout: 10_000 }).toBe('up');
  valueOf(await link.write(Buffer.from('word')));
  valueOf(await link.press(['enter']));
  await expect.poll(async () => valueOf(await link.screen()).text, { timeout: 5_000 }).toBe('up\nword\nword');
  valueOf(await link.resize({ columns: 100, rows: 30 }));
  expect(valueOf(await link.screen()).size).toEqual({ columns: 100, rows: 30 });
  valueOf(await link.signal('SIGTERM', { tree: true }));
});

test('long input arrives whole', async () => {
  const { link } = await kept('head -c 1500000 | wc -c');
  valueOf(await link.write(Buffer.alloc(1_500_000, 0x61)));
  await expect.poll(async () => totalOf(await link.printed()), { timeout: 10_000 }).toBeGreaterThan(7);
});

/** A connection to a keeper that does what the test says. */
async function linked(onWish: (wish: ProcessWish, socket: Socket) => void) {
  const { root, running, store } = await kept('exec sleep 60');
  const path = join(root, 'other.sock');
  const keeper = createServer((socket) =>
    readJsonLines(socket, (wish) => onWish(processWishSchema.parse(wish), socket)),
  );
  keeper.listen(path);
  await once(keeper, 'listening');
  const record = { ...running.record, socket_path: path };
  const link = await KeptProcess.connect(record, async () => record);
  if (link === undefined) throw new Error('nobody listens');
  onTestFinished(() => {
    link.dispose();
    keeper.close();
  });
  return { link, record, store };
}

test('a kept process of which its keeper never tells the end is not waited for', async () => {
  const exit = { signal: 'SIGTERM', outOfMemory: false, endedAt: new Date().toISOString() };
  const { link } = await linked(({ id }, socket) => writeJsonLine(socket, { id, value: { exit, left: 0 } }));
  expect(await link.kill('SIGTERM')).toMatchObject({ ok: false, fault: { code: 'UNREACHABLE' } });
});

test('who waits for output is told when the keeper goes away', async () => {
  const { link, record, store } = await linked(({ method }, socket) => {
    if (method === 'until_prints') socket.destroy();
  });
  const waited = await waitForOutput({
    running: link,
    folder: store.folder(record.process_id),
    before: { bytes: {}, lostBytes: 0 },
    limitMs: 3_600_000,
    clock: systemClock,
  });
  expect(waited).toMatchObject({ ok: false, fault: { code: 'NOT_RUNNING' } });
});

test('nobody listens where a keeper has gone', async () => {
  const { server, connect, link } = await kept('exec sleep 60');
  await server.end();
  await link.ended;
  expect(await connect()).toBeUndefined();
});

test('calls that look for a kept process at the same time share one connection', async () => {
  const { running, root } = await kept('exec sleep 60');
  let connections = 0;
  const { manager, store } = await openProcesses({
    keepers: {
      launch: () => Promise.reject(new Error('nothing is started here')),
      connect: async (record) => {
        connections++;
        return KeptProcess.connect(record, async () => record);
      },
      clear: async () => {},
      dispose: () => {},
    },
  });
  const path = join(root, 'shared.sock');
  const server = await ProcessKeeperServer.start(running, path, systemClock);
  onTestFinished(() => server.end());
  const record = { ...running.record, keep: true, socket_path: path };
  await store.create(record);
  const found = await Promise.all([1, 2, 3].map(() => manager.find(record.process_id)));
  expect(found.map((one) => valueOf(one).record.status)).toEqual(['running', 'running', 'running']);
  expect(connections).toBe(1);
});
