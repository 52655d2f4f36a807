import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { boardPlace } from '../../src/board/board-place.js';
import { recordLook } from '../../src/native/last-look.js';
import { Listeners } from '../../src/native/listeners.js';
import { ownIdentity } from '../../src/store/process-identity.js';
import { ManualClock } from '../harness/manual-clock.js';

async function listeners() {
  const statePath = await mkdtemp(join(tmpdir(), 'listeners-'));
  onTestFinished(() => rm(statePath, { recursive: true, force: true }));
  const clock = new ManualClock();
  const place = boardPlace(statePath, statePath);
  const boardOf = async (pid: number): Promise<void> => {
    const owner = { ...(await ownIdentity()), pid };
    const holder = {
      version: 1,
      project_path: '',
      task_id: 'board',
      owner,
      since: '2026-01-01T00:00:00.000Z',
    };
    await mkdir(dirname(place.lockFile), { recursive: true });
    await writeFile(place.lockFile, JSON.stringify(holder));
  };
  return {
    clock,
    boardOf,
    statePath,
    listeners: new Listeners({ statePath, runtimePath: statePath, clock }),
  };
}

test('without a board and a client there is no listener', async () => {
  expect(await (await listeners()).listeners.isHeard(0)).toBe(false);
});

test('a client listens while it is connected, and a minute longer', async () => {
  const { listeners: all, clock } = await listeners();
  expect(await all.isHeard(1)).toBe(true);
  all.client();
  clock.advance(59_000);
  expect(await all.isHeard(0)).toBe(true);
  clock.advance(1_000);
  expect(await all.isHeard(0)).toBe(false);
});

test('a client that looks for sessions listens for a minute', async () => {
  const { listeners: all, clock, statePath } = await listeners();
  await recordLook(statePath);
  clock.advance(Date.now());
  expect(await all.isHeard(0)).toBe(true);
  // The file's time has parts of a millisecond.
  clock.advance(60_001);
  expect(await all.isHeard(0)).toBe(false);
});

test('a board listens while its process lives', async () => {
  const { listeners: all, boardOf } = await listeners();
  await boardOf(process.pid);
  expect(await all.isHeard(0)).toBe(true);
  await boardOf(999_999_999);
  expect(await all.isHeard(0)).toBe(false);
});
