import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createConnection, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../../src/base/system-clock.js';
import { nextEvent } from '../../../src/base/lifecycle.js';
import { createTaskId } from '../../../src/base/ids.js';
import { silentLogger } from '../../../src/base/logger.js';
import { KeeperClient } from '../../../src/keeper/host/keeper-client.js';
import { serveTask, type TaskServer } from '../../../src/keeper/main/keeper-server.js';
import { MAX_LINE_BYTES } from '../../../src/keeper/wire/json-lines.js';
import type { TaskRecord } from '../../../src/tasks/task.js';
import { createRun, type RunHarness } from '../../tasks/run-harness.js';
import { sampleRecord, TASK_ID } from '../../tasks/sample-task.js';

/** An answer or a push. */
const lineSchema = z.looseObject({});
type Line = z.infer<typeof lineSchema>;

const socketPath = (): string => join(tmpdir(), `${createTaskId(Date.now()).slice(-12)}.sock`);

async function served(): Promise<{ harness: RunHarness; path: string; server: TaskServer }> {
  const harness = await createRun();
  await harness.run.start();
  const path = socketPath();
  const server = await serveTask({
    run: harness.run,
    socketPath: path,
    clock: systemClock,
    logger: silentLogger,
  });
  onTestFinished(() => server.dispose());
  return { harness, path, server };
}

async function rawClient(path: string): Promise<Socket> {
  const socket = createConnection(path);
  socket.on('error', () => undefined);
  onTestFinished(() => {
    socket.destroy();
  });
  await once(socket, 'connect');
  return socket;
}

async function lines(socket: Socket, count: number): Promise<Line[]> {
  let text = '';
  for await (const chunk of socket) {
    text += String(chunk);
    const whole = text.split('\n').slice(0, -1);
    if (whole.length >= count) return whole.slice(0, count).map((line) => lineSchema.parse(JSON.parse(line)));
  }
  throw new Error(`the keeper hung up after: ${text}`);
}

it('its socket is for its user alone, and greets with the record', async () => {
  const { path } = await served();
  expect((await stat(path)).mode & 0o077).toBe(0);
  expect(await lines(await rawClient(path), 1)).toMatchObject([
    { push: 'record', record: { task_id: TASK_ID } },
  ]);
});

/** The pushes of the record so far. */
function recordsOf(socket: Socket): () => Line[] {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return () =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => lineSchema.parse(JSON.parse(line)))
      .filter((line) => line.push === 'record');
}

const view = { columns: 80, rows: 24, read_only: true, covered: false, scrollback: 0 };

it('a client that watches gets the record after a change, and another one only at the end', async () => {
  const { path, harness, server } = await served();
  const [watcher, caller] = [await rawClient(path), await rawClient(path)];
  const got = recordsOf(watcher);
  const other = recordsOf(caller);
  watcher.write(`${JSON.stringify({ id: 1, method: 'watch', view })}\n`);
  await expect.poll(() => got().length).toBe(2);
  harness.driver.endTurn('Done.', { backgroundTasks: 1 });
  await expect.poll(() => got().at(-1)).toMatchObject({ protocol: 6, record: { change_seq: 3 } });
  expect(other()).toHaveLength(1);
  harness.driver.exit();
  await harness.run.ended;
  await server.finish();
  expect(other().at(-1)).toMatchObject({ record: { status: 'completed' } });
});

it.each([
  { what: 'no JSON', text: 'hello\n' },
  { what: 'a request without a number', text: '{"method":"screen"}\n' },
  { what: 'a line that nests deeply', text: `{"id":1,"method":${'['.repeat(1_000)}${']'.repeat(1_000)}}\n` },
  { what: 'a line without an end', text: 'x'.repeat(MAX_LINE_BYTES + 1) },
])('a client that sends $what is hung up on, and the others are served', async ({ text }) => {
  const { path } = await served();
  const good = await KeeperClient.connect(TASK_ID, path);
  const bad = await rawClient(path);
  const closed = once(bad, 'close');
  bad.resume();
  bad.write(text);
  await closed;
  expect(await good?.screen()).toMatchObject({ text: 'the screen' });
  good?.dispose();
});

it('what is asked while the task ends is still answered, and the final record is told', async () => {
  const { path, harness, server } = await served();
  const client = await KeeperClient.connect(TASK_ID, path);
  if (client === undefined) throw new Error('nobody listens');
  const statuses: string[] = [];
  client.onRecord(({ status }) => statuses.push(status));
  const ending = harness.run.ended.then(() => server.finish());
  const killed = client.kill('Enough.');
  await expect.poll(() => harness.driver.told).toContain('kill');
  harness.driver.exit({ signal: 'SIGTERM' });
  expect(await killed).toMatchObject({ status: 'killed' });
  await ending;
  await expect.poll(() => statuses.at(-1)).toBe('killed');
  await expect(client.screen()).rejects.toMatchObject({ code: 'TASK_UNREACHABLE' });
});

/** Who takes connections and says nothing until it is told to, as a keeper that was halted. */
async function halted(): Promise<{ path: string; wake: (record: TaskRecord) => void; got: () => string }> {
  const path = socketPath();
  const sockets: Socket[] = [];
  let got = '';
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    socket.on('data', (bytes) => (got += bytes.toString()));
  });
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  server.listen(path);
  await once(server, 'listening');
  const wake = (record: TaskRecord): void => {
    for (const socket of sockets)
      socket.write(`${JSON.stringify({ push: 'record', record, protocol: 2 })}\n`);
  };
  return { path, wake, got: () => got };
}

it('a keeper that says nothing is told as one that does not answer, and is asked again when it goes on', async () => {
  const keeper = await halted();
  const client = await KeeperClient.connect(TASK_ID, keeper.path);
  if (client === undefined) throw new Error('nobody listens');
  onTestFinished(() => client.dispose());
  const message: unknown = expect.stringContaining('does not answer');
  const stuck = { code: 'TASK_UNREACHABLE', isStuck: true, message };
  await expect(client.screen()).rejects.toMatchObject(stuck);
  await expect(client.kill('Enough.')).rejects.toMatchObject(stuck);
  const told = nextEvent(client.onRecord);
  keeper.wake(sampleRecord({ status: 'running' }));
  await told;
  client.kill('Enough.').catch(() => undefined);
  await expect.poll(keeper.got).toContain('"method":"kill"');
});

it('any number of connections leaves room for one that asks', async () => {
  const { path } = await served();
  const watcher = await KeeperClient.connect(TASK_ID, path);
  // This task has no terminal, and its client stays all the same.
  await expect(watcher?.watch(view)).rejects.toMatchObject({ code: 'TASK_NOT_RUNNING' });
  const others: Socket[] = [];
  for (let number = 0; number < 200; number++) others.push((await rawClient(path)).resume());
  const caller = await KeeperClient.connect(TASK_ID, path);
  expect(await caller?.screen()).toMatchObject({ text: 'the screen' });
  await expect.poll(() => others.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(62);
  expect(await watcher?.screen()).toMatchObject({ text: 'the screen' });
  watcher?.dispose();
  caller?.dispose();
});
