import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/system-clock.js';
import { silentLogger } from '../../src/base/logger.js';
import { ProcessFeed } from '../../src/board/process-feed.js';
import type { BoardAction } from '../../src/board/state.js';
import { freshRecord, type ProcessRecord } from '../../src/processes/process-record.js';
import { ProcessStore } from '../../src/processes/process-store.js';
import { ownIdentity } from '../../src/store/process-identity.js';

const ID = 'proc_0123456789ab';

async function openFeed() {
  const folder = await mkdtemp(join(tmpdir(), 'processes-'));
  const store = new ProcessStore(folder);
  const told: BoardAction[] = [];
  const state = { owner: 'alive' as 'alive' | 'gone' };
  const source = { path: store.path, all: () => store.all(), ownerState: async () => state.owner };
  const feed = new ProcessFeed({ processes: source, clock: systemClock, logger: silentLogger }, (action) =>
    told.push(action),
  );
  onTestFinished(async () => {
    feed.dispose();
    await rm(folder, { recursive: true });
  });
  const record: ProcessRecord = {
    ...freshRecord,
    process_id: ID,
    mode: 'host',
    command_line: 'npm run dev',
    cwd: '/p',
    tty: null,
    keep: true,
    owner: await ownIdentity(),
    mark: null,
    socket_path: null,
    started_at: '2026-01-01T00:00:00.000Z',
  };
  return { feed, store, told, record, state };
}

it('tells of a process as it starts, as it ends and when it is removed', async () => {
  const { feed, store, told, record } = await openFeed();
  await feed.start();
  expect(told).toEqual([]);
  await store.create(record);
  await expect.poll(() => told).toMatchObject([{ process: { process_id: ID, status: 'running' } }]);
  await store.write({ ...record, status: 'terminated', exit_code: 3, ended_at: '2026-01-01T00:00:05.000Z' });
  await expect.poll(() => told.at(-1)).toMatchObject({ process: { status: 'terminated', exit_code: 3 } });
  await store.remove(ID);
  await expect.poll(() => told.at(-1)).toEqual({ type: 'process.removed', process_id: ID });
});

it('a process whose owner was killed is lost, and not running', async () => {
  const { feed, store, told, record, state } = await openFeed();
  await store.create(record);
  await feed.start();
  expect(told).toMatchObject([{ process: { status: 'running' } }]);
  state.owner = 'gone';
  await expect
    .poll(() => told.at(-1), { timeout: 5_000 })
    .toMatchObject({ process: { status: 'lost', reason: 'Whoever ran it is gone.' } });
});
