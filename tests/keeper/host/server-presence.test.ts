import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createTaskId } from '../../../src/base/ids.js';
import { silentLogger } from '../../../src/base/logger.js';
import { KeeperServer } from '../../../src/keeper/main/keeper-server.js';
import { ServerPresence } from '../../../src/keeper/host/server-presence.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { createRun, type RunHarness } from '../../tasks/run-harness.js';
import { TASK_ID } from '../../tasks/sample-task.js';

const GRACE_SECONDS = 30;

interface Kept {
  readonly task: { readonly task_id: string; readonly socket_path: string };
  readonly harness: RunHarness;
  readonly server: KeeperServer;
  readonly clock: ManualClock;
}

/** A keeper whose task ends without a server, or with `undefined` one that does not care. */
async function kept(stopWithoutServerSeconds: number | undefined): Promise<Kept> {
  const harness = await createRun();
  await harness.run.start();
  const clock = new ManualClock();
  const socket_path = join(tmpdir(), `${createTaskId().slice(-12)}.sock`);
  const server = await KeeperServer.start({
    run: harness.run,
    socketPath: socket_path,
    clock,
    logger: silentLogger,
    stopWithoutServerSeconds,
  });
  onTestFinished(() => server.dispose());
  return { task: { task_id: TASK_ID, socket_path }, harness, server, clock };
}

function presence(): ServerPresence {
  const made = new ServerPresence();
  onTestFinished(() => made.dispose());
  return made;
}

it('stays with a task that needs a server, once, however often it is asked to', async () => {
  const { task, server, harness, clock } = await kept(GRACE_SECONDS);
  const here = presence();
  expect(await Promise.all([here.stay(task), here.stay(task)])).toEqual(['staying', 'staying']);
  expect(await here.stay(task)).toBe('staying');
  expect(here.count).toBe(1);
  await expect.poll(() => server.clientCount).toBe(1);
  clock.advance(2 * GRACE_SECONDS * 1_000);
  expect(harness.driver.told).not.toContain('kill');
});

it('lets go of a task that needs none', async () => {
  const { task, server } = await kept(undefined);
  const here = presence();
  expect(await here.stay(task)).toBe('not-needed');
  expect(here.count).toBe(0);
  await expect.poll(() => server.clientCount).toBe(0);
});

it('is gone for the keeper when it is disposed, and stays with nothing any more', async () => {
  const { task, server, harness, clock } = await kept(GRACE_SECONDS);
  const here = presence();
  await here.stay(task);
  here.dispose();
  expect(await here.stay(task)).toBe('gone');
  expect(here.count).toBe(0);
  await expect.poll(() => server.clientCount).toBe(0);
  clock.advance(GRACE_SECONDS * 1_000);
  expect(harness.driver.told).toContain('kill');
});

it('forgets a keeper that has left, and does nothing where nobody listens', async () => {
  const { task, server } = await kept(GRACE_SECONDS);
  const here = presence();
  await here.stay(task);
  server.dispose();
  await expect.poll(() => here.count).toBe(0);
  expect(await here.stay(task)).toBe('gone');
  expect(here.count).toBe(0);
});

/** Who listens there and says nothing, as a keeper that was halted. */
async function silent(): Promise<{ task: Kept['task']; sockets: Socket[] }> {
  const socket_path = join(tmpdir(), `${createTaskId().slice(-12)}.sock`);
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  server.listen(socket_path);
  await once(server, 'listening');
  return { task: { task_id: TASK_ID, socket_path }, sockets };
}

it('knows a keeper that leaves before it has said what it needs as gone', async () => {
  const { task, sockets } = await silent();
  const here = presence();
  const staying = here.stay(task);
  await expect.poll(() => sockets.length).toBe(1);
  sockets[0]?.destroy();
  expect(await staying).toBe('gone');
});

it('waits no longer for a silent keeper when it is disposed', async () => {
  const { task, sockets } = await silent();
  const here = presence();
  const staying = here.stay(task);
  await expect.poll(() => sockets.length).toBe(1);
  here.dispose();
  expect(await staying).toBe('gone');
});
