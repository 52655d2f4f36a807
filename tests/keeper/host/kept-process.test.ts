import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import { silentLogger } from '../../../src/base/logger.js';
import { createSecret } from '../../../src/base/ids.js';
import { MAX_REQUEST_BYTES, readJsonLines, writeJsonLine } from '../../../src/keeper/wire/json-lines.js';
import { KeptProcess } from '../../../src/keeper/host/kept-process.js';
import { serveProcess } from '../../../src/keeper/main/serve-process.js';
import { processRequestSchema, type ProcessRequest } from '../../../src/keeper/wire/process-messages.js';
import { totalOf, type RunningProcess } from '../../../src/processes/running-process.js';
import { waitForOutput } from '../../../src/processes/wait-for-output.js';
import { openProcesses } from '../../processes/open-processes.js';

const serve = (running: RunningProcess, socketPath: string) =>
  serveProcess({ running, socketPath, clock: systemClock, logger: silentLogger });

/** A process of this program, served on a socket, and a connection to it. */
async function kept(script: string, tty = false) {
  const place = await openProcesses();
  const { manager, root, store } = place;
  const path = join(root, `${createSecret().slice(0, 8)}.sock`);
  const running: RunningProcess = await manager.spawn({
    mode: 'host',
    command: ['/bin/sh', '-c', script],
    commandLine: script,
    cwd: root,
    env: {},
    keep: false,
    ...(tty && { tty: { columns: 80, rows: 24 } }),
  });
  const server = await serve(running, path);
  const record = { ...running.record, socket_path: path };
  const connect = () => KeptProcess.connect(record, () => store.read(record.process_id));
  const link = await connect();
  if (link === undefined) throw new Error('nobody listens');
  onTestFinished(async () => {
    link.dispose();
    await server.finish();
  });
  return { ...place, running, server, link, connect };
}

test('a kept process is told and asked everything over its socket', async () => {
  const { link } = await kept('while read -r x; do echo "got $x"; done; exit 7');
  await link.write(Buffer.from('one\n'));
  await link.untilPrints(0, 5_000);
  expect(totalOf(await link.printed())).toBe(8);
  expect(await link.stats()).toMatchObject({ processCount: 1 });
  await expect(link.screen()).rejects.toMatchObject({ code: 'NO_TERMINAL' });
  await expect(link.press(['enter'])).rejects.toMatchObject({ code: 'NO_TERMINAL' });
  await expect(link.resize({ columns: 10, rows: 10 })).rejects.toMatchObject({ code: 'NO_TERMINAL' });
  await link.endInput();
});

test('a kept process is killed, and its end is told to whoever asked', async () => {
  const { link, running, server } = await kept('exec sleep 60');
  const ended = running.ended.then(() => server.finish());
  expect(await link.kill('SIGTERM')).toMatchObject({ exit: { signal: 'SIGTERM' }, left: 0 });
  expect(await link.ended).toMatchObject({ status: 'terminated', signal: 'SIGTERM' });
  await ended;
  await expect(link.write(Buffer.from('late'))).rejects.toMatchObject({ code: 'PROCESS_NOT_RUNNING' });
});

test('a kept process in a terminal has keys and a screen', async () => {
  const { link } = await kept('echo up; exec cat', true);
  // What is typed earlier is echoed before it.
  await expect.poll(async () => (await link.screen()).text, { timeout: 10_000 }).toBe('up');
  await link.write(Buffer.from('word'));
  await link.press(['enter']);
  await expect.poll(async () => (await link.screen()).text, { timeout: 5_000 }).toBe('up\nword\nword');
  await link.resize({ columns: 100, rows: 30 });
  expect((await link.screen()).size).toEqual({ columns: 100, rows: 30 });
  await link.signal('SIGTERM', { tree: true });
});

test('long input arrives whole', async () => {
  const { link } = await kept('head -c 1500000 | wc -c');
  await link.write(Buffer.alloc(1_500_000, 0x61));
  await expect.poll(async () => totalOf(await link.printed()), { timeout: 10_000 }).toBeGreaterThan(7);
});

/** A connection to a keeper that does what the test says. */
async function linked(onWish: (wish: ProcessRequest, socket: Socket) => void) {
  const { root, running, store } = await kept('exec sleep 60');
  const path = join(root, 'other.sock');
  const keeper = createServer((socket) =>
    readJsonLines(socket, (wish) => onWish(processRequestSchema.parse(wish), socket)),
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
  await expect(link.kill('SIGTERM')).rejects.toMatchObject({ code: 'PROCESS_UNREACHABLE' });
});

test('what a keeper of version 0.1 refuses is an error with the code of today', async () => {
  const { link } = await linked(({ id }, socket) => {
    const error = { code: 'INPUT_FULL', message: 'It reads nothing.', hint: 'Wait.' };
    writeJsonLine(socket, { id, fault: error });
  });
  const refused = link.write(Buffer.from('x'));
  await expect(refused).rejects.toMatchObject({ code: 'INPUT_REFUSED', message: 'It reads nothing.' });
});

test('a client that asks for hundreds of things at once, or sends no request, is disconnected, and others are served', async () => {
  const { link } = await kept('exec sleep 60');
  const { socket_path: path } = link.record;
  const texts = [
    '{"id":1,"method":"printed"}\n'.repeat(5_000),
    'x'.repeat(MAX_REQUEST_BYTES + 1),
    'hello\n',
    '{"method":"printed"}\n',
  ];
  for (const text of texts) {
    const socket = createConnection(path ?? '');
    socket.on('error', () => undefined).resume();
    socket.write(text);
    await new Promise((closed) => socket.on('close', closed));
  }
  expect(await link.stats()).toMatchObject({ processCount: 1 });
});

test('kill is answered before what was asked earlier, of a kept process too', async () => {
  const { link, running } = await kept('exec sleep 60');
  const answered: boolean[] = [];
  let isKilled = false;
  const { printed, kill } = { printed: running.printed.bind(running), kill: running.kill.bind(running) };
  running.printed = () => {
    answered.push(isKilled);
    return printed();
  };
  running.kill = (first) => {
    isKilled = true;
    return kill(first);
  };
  const socket = createConnection(link.record.socket_path ?? '').on('error', () => undefined);
  onTestFinished(() => {
    socket.destroy();
  });
  socket.resume();
  const asked = '{"id":2,"method":"printed"}\n'.repeat(90);
  socket.write(`${asked}{"id":1,"method":"kill","first":"SIGTERM"}\n`);
  await expect.poll(() => answered.length).toBe(90);
  expect(answered.filter((wasKilled) => !wasKilled).length).toBeLessThan(5);
});

test('any number of connections leaves room for one that asks', async () => {
  const { link, connect } = await kept('exec sleep 60');
  const sockets = Array.from({ length: 200 }, () =>
    createConnection(link.record.socket_path ?? '').on('error', () => undefined),
  );
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const caller = await connect();
  expect(await caller?.stats()).toMatchObject({ processCount: 1 });
  caller?.dispose();
});

test('what a keeper does not know is answered with an error', async () => {
  const { link } = await kept('exec sleep 60');
  const socket = createConnection(link.record.socket_path ?? '');
  onTestFinished(() => {
    socket.destroy();
  });
  const answer = new Promise((resolve) =>
    readJsonLines(socket, (line) => JSON.stringify(line).startsWith('{"id":7') && resolve(line)),
  );
  socket.write('{"id":7,"method":"explode"}\n');
  expect(await answer).toMatchObject({ id: 7, fault: { code: 'INVALID_ARGUMENTS' } });
});

test('who waits for output is told when the keeper goes away', async () => {
  const { link, record, store } = await linked(({ method }, socket) => {
    if (method === 'until_prints') socket.destroy();
  });
  const waited = waitForOutput({
    running: link,
    folder: store.folder(record.process_id),
    before: { bytes: {}, lostBytes: 0 },
    limitMs: 3_600_000,
    clock: systemClock,
  });
  await expect(waited).rejects.toMatchObject({ code: 'PROCESS_NOT_RUNNING' });
});

test('nobody listens where a keeper has gone', async () => {
  const { server, connect, link } = await kept('exec sleep 60');
  await server.finish();
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
  const server = await serve(running, path);
  onTestFinished(() => server.finish());
  const record = { ...running.record, keep: true, socket_path: path };
  await store.create(record);
  const found = await Promise.all([1, 2, 3].map(() => manager.find(record.process_id)));
  expect(found.map((one) => one.record.status)).toEqual(['running', 'running', 'running']);
  expect(connections).toBe(1);
});
