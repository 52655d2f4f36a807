import { mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir, uptime } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Clock } from '../../src/base/clock.js';
import { systemClock } from '../../src/base/system-clock.js';
import { writeJsonFileAtomically } from '../../src/base/files/json-file.js';
import { silentLogger } from '../../src/base/logger.js';
import { Heartbeat, HEARTBEAT_MS, heartbeatFile, heartbeatFolder } from '../../src/store/heartbeat.js';
import {
  HEARTBEAT_DOUBT_MS,
  HEARTBEAT_LIMIT_MS,
  hasHeartbeat,
  ownerState,
  sweepHeartbeats,
} from '../../src/store/owner-state.js';
import { ownIdentity } from '../../src/store/process-identity.js';
import type { ProcessIdentity } from '../../src/store/process-place.js';
import { makeFolders } from '../../src/base/files/make-folders.js';
import { ManualClock } from '../harness/manual-clock.js';

let statePath: string;
let clock: ManualClock;
beforeEach(async () => {
  statePath = await mkdtemp(join(tmpdir(), 'owners-'));
  clock = new ManualClock();
});
afterEach(() => rm(statePath, { recursive: true, force: true }));

const state = (owner: ProcessIdentity) => ownerState(owner, { statePath, clock });

/** A process of another pid namespace with the pid and start time of one that is dead here. */
async function elsewhere(facts: Partial<ProcessIdentity> = {}): Promise<ProcessIdentity> {
  return { ...(await ownIdentity()), pid: 2 ** 22 - 1, namespace: 'pid:[1]', ...facts };
}

async function beat(owner: ProcessIdentity, atSeconds = 1_700_000_000, socketPath: string | null = null) {
  const path = heartbeatFile(owner, statePath);
  await makeFolders(heartbeatFolder(statePath), 0o700);
  await writeJsonFileAtomically(path, { owner, socket_path: socketPath });
  await utimes(path, atSeconds, atSeconds);
}

describe('an owner in another pid namespace or on another machine', () => {
  test.each([
    { of: 'another pid namespace', facts: {} },
    {
      of: 'another machine',
      facts: { machine_id: 'other', boot_id: 'other', namespace: 'pid:[4026531836]' },
    },
    { of: 'a machine without an id', facts: { machine_id: null, boot_id: 'other' } },
    { of: 'a system that does not say its namespace', facts: { namespace: null } },
  ])('is not gone because its pid is, in $of', async ({ facts }) => {
    const owner = await elsewhere(facts);
    expect(await state(owner)).toBe('unknown');
    await beat(owner);
    expect(await state(owner)).toBe('unknown');
  });

  test('is gone when its heartbeat did not change for the limit and the time of doubt', async () => {
    const owner = await elsewhere();
    await beat(owner);
    expect(await state(owner)).toBe('unknown');
    clock.advance(HEARTBEAT_LIMIT_MS - 1);
    expect(await state(owner)).toBe('unknown');
    clock.advance(1);
    expect(await state(owner)).toBe('unknown');
    clock.advance(HEARTBEAT_DOUBT_MS - 1);
    expect(await state(owner)).toBe('unknown');
    clock.advance(1);
    expect(await state(owner)).toBe('gone');
    expect(await state(owner)).toBe('gone');
  });

  test('is gone after the same time when it has no heartbeat at all', async () => {
    const owner = await elsewhere();
    expect(await state(owner)).toBe('unknown');
    clock.advance(HEARTBEAT_LIMIT_MS);
    expect(await state(owner)).toBe('unknown');
    clock.advance(HEARTBEAT_DOUBT_MS);
    expect(await state(owner)).toBe('gone');
  });

  test('lives while its heartbeat changes, whatever its clock says', async () => {
    const owner = await elsewhere();
    for (const atSeconds of [2_000_000_000, 1_000_000_000, 1_000_000_001, 5]) {
      await beat(owner, atSeconds);
      expect(await state(owner)).toBe('unknown');
      clock.advance(HEARTBEAT_LIMIT_MS + HEARTBEAT_DOUBT_MS);
    }
    // One look after a long time is no proof: this machine may have slept, and the owner with it.
    expect(await state(owner)).toBe('unknown');
    await beat(owner, 6);
    clock.advance(HEARTBEAT_DOUBT_MS);
    expect(await state(owner)).toBe('unknown');
  });

  test('lives while its socket accepts connections, however old its heartbeat is', async () => {
    const owner = await elsewhere();
    const socketPath = join(statePath, 's');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(socketPath, resolve));
    onTestFinished(() => void server.close());
    await beat(owner, 1, socketPath);
    for (const waitMs of [HEARTBEAT_LIMIT_MS, HEARTBEAT_DOUBT_MS, HEARTBEAT_LIMIT_MS]) {
      expect(await state(owner)).toBe('unknown');
      clock.advance(waitMs);
    }
    expect(await state(owner)).toBe('unknown');
    await new Promise((resolve) => server.close(resolve));
    expect(await state(owner)).toBe('gone');
  });

  test('is gone after a reboot, unless its heartbeat is newer', async () => {
    const own = await elsewhere({ machine_id: 'm', boot_id: 'this boot' });
    const owner = { ...own, boot_id: 'an earlier boot' };
    const now: Clock = { ...systemClock, monotonicMs: () => 0 };
    const judged = (): Promise<string> => ownerState(owner, { statePath, clock: now, own });
    expect(await judged()).toBe('gone');
    const bootedSeconds = Date.now() / 1000 - uptime();
    await beat(owner, bootedSeconds - 60);
    expect(await judged()).toBe('gone');
    // Two copies of one machine share its id.
    await beat(owner, bootedSeconds + 60);
    expect(await judged()).toBe('unknown');
  });
});

describe('the heartbeat of a process', () => {
  afterEach(() => vi.useRealTimers());

  test('is a file that changes, is recreated when removed, and disappears with its process', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const own = await ownIdentity();
    const heartbeat = await Heartbeat.start({ statePath, clock, logger: silentLogger });
    const changedMs = async (): Promise<number> => (await stat(heartbeatFile(own, statePath))).mtimeMs;
    expect(await changedMs()).toBeGreaterThan(0);
    clock.advance(HEARTBEAT_MS);
    vi.advanceTimersByTime(HEARTBEAT_MS);
    await expect.poll(changedMs).toBe(HEARTBEAT_MS);
    await rm(heartbeatFolder(statePath), { recursive: true });
    expect(await hasHeartbeat(own, statePath)).toBe(false);
    vi.advanceTimersByTime(HEARTBEAT_MS);
    await expect.poll(() => hasHeartbeat(own, statePath)).toBe(true);
    heartbeat.dispose();
    expect(await readdir(heartbeatFolder(statePath))).toEqual([]);
  });

  test('is swept when its process is gone, not before', async () => {
    const own = await ownIdentity();
    const heartbeat = await Heartbeat.start({ statePath, clock, logger: silentLogger });
    onTestFinished(() => heartbeat.dispose());
    const [dead, other] = [{ ...own, start_time: '1' }, await elsewhere()];
    for (const owner of [dead, other]) await beat(owner);
    await sweepHeartbeats(statePath, clock);
    expect(await hasHeartbeat(dead, statePath)).toBe(false);
    expect(await hasHeartbeat(other, statePath)).toBe(true);
    expect(await hasHeartbeat(own, statePath)).toBe(true);
    for (const waitMs of [HEARTBEAT_LIMIT_MS, HEARTBEAT_DOUBT_MS]) {
      clock.advance(waitMs);
      await sweepHeartbeats(statePath, clock);
    }
    expect(await hasHeartbeat(other, statePath)).toBe(false);
  });
});
