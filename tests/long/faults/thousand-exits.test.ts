import { expect, it } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.js';
import { PtyManager } from '../../../src/pty/pty-manager.js';
import { ReadChild } from '../../harness/read-child.js';
import { seededRandom } from '../../harness/seeded-random.js';

const options = {
  cwd: '/',
  env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  size: { columns: 80, rows: 24 },
  shell: '/bin/sh',
};
const CHILDREN = 1000;
const AT_ONCE = 4;
const MAX_BYTES = 1_000_000;
const TEST_LIMIT_MS = 120_000;

/** Sizes from 1 byte to 1 MB, each order of magnitude as likely; the same in every run. */
function createSizes(count: number): number[] {
  const random = seededRandom(20_260_101);
  return Array.from({ length: count }, () => Math.round(MAX_BYTES ** random()));
}

/** Prints so many bytes, then its last word, and exits at once. */
const PROGRAM = 'head -c "$1" /dev/zero | tr "\\0" x; printf THE-END; exit 11';

async function lossOf(manager: PtyManager, bytes: number, busyMs: number): Promise<number> {
  const command = ['/bin/sh', '-c', PROGRAM, 'sh', String(bytes)];
  const session = await ReadChild.start((sink) => manager.spawn({ ...options, command, sink }));
  let read = 0;
  let tail = '';
  session.onData((data) => {
    read += data.length;
    tail = (tail + data.toString('latin1')).slice(-7);
    // A reader that has other things to do, so that the child is gone long before its output is read.
    const untilMs = performance.now() + busyMs;
    while (performance.now() < untilMs);
  });
  expect(await session.exited).toEqual({ code: 11 });
  expect(tail).toBe('THE-END');
  return bytes + 'THE-END'.length - read;
}

async function lossesOf(sizes: readonly number[], busyMs: number): Promise<number[]> {
  const manager = new PtyManager({ clock: systemClock });
  const left = [...sizes];
  const losses: number[] = [];
  const worker = async () => {
    for (let size = left.pop(); size !== undefined; size = left.pop()) {
      losses.push(await lossOf(manager, size, busyMs));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  await manager.whenClosed();
  return losses.filter((loss) => loss !== 0);
}

it(
  `${CHILDREN} children that print 1 byte to 1 MB and exit at once lose no byte, also to a busy reader`,
  async () => {
    expect(await lossesOf(createSizes(CHILDREN), 0)).toEqual([]);
    expect(await lossesOf(createSizes(100), 2)).toEqual([]);
  },
  TEST_LIMIT_MS,
);
