import { describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../src/base/logger.js';
import { isFailingNow, StorageWatch, type WatchedFile } from '../../../src/tasks/run/storage-watch.js';
import { ManualClock } from '../../harness/manual-clock.js';

type Result = Awaited<ReturnType<WatchedFile['write']>>;

/** A watch over one file whose writes go as `results` say; the last one stays. */
function watchOver(results: Result[]): {
  clock: ManualClock;
  told: string[];
  watch: StorageWatch;
  lose: (bytes: number) => void;
  pass: (ms: number) => Promise<void>;
} {
  const clock = new ManualClock();
  const told: string[] = [];
  let lost = 0;
  let tries = 0;
  const watch = new StorageWatch({
    clock,
    logger: silentLogger,
    files: [
      {
        name: 'log',
        unit: 'bytes',
        lost: () => lost,
        write: async () => {
          tries++;
          return results.length > 1 ? (results.shift() ?? 'written') : (results[0] ?? 'written');
        },
      },
    ],
    onFailed: (words) => told.push(words),
    onBack: (words, isWhole) => told.push(`${isWhole ? 'whole' : 'gap'}: ${words}`),
  });
  return {
    clock,
    told,
    watch,
    lose: (bytes) => (lost += bytes),
    pass: async (ms) => {
      const before = tries;
      clock.advance(ms);
      await vi.waitUntil(() => tries > before && clock.timerCount > 0);
    },
  };
}

describe('a disk that fails', () => {
  it('is told once, tried every second, and told again when it is back', async () => {
    const { told, watch, pass } = watchOver(['failing', 'failing', 'written']);
    watch.failed('log', new Error('ENOSPC: no space left'));
    watch.failed('journal', new Error('ENOSPC: no space left'));
    expect(watch.isFailing).toBe(true);
    expect(told).toEqual([
      'failing since 1970-01-01T00:00:00.000Z: the log could not be written: ENOSPC: no space left',
    ]);
    expect(isFailingNow(told[0] ?? null)).toBe(true);
    await pass(1_000);
    await pass(1_000);
    expect(watch.isFailing).toBe(true);
    await pass(1_000);
    expect(told.slice(1)).toEqual([
      'whole: the disk failed from 1970-01-01T00:00:00.000Z to 1970-01-01T00:00:03.000Z; nothing else is missing',
    ]);
    expect(watch.isFailing).toBe(false);
    watch.dispose();
  });

  it('is said to have lost what it lost', async () => {
    const { told, watch, lose, pass } = watchOver(['written']);
    watch.failed('log', new Error('EROFS'));
    lose(700);
    await pass(1_000);
    expect(told[1]).toMatch(/^gap: .*missing: 700 bytes of the log$/);
    watch.failed('log', new Error('EROFS'));
    await pass(1_000);
    expect(told[3]).toMatch(/^whole: /);
    watch.dispose();
  });
});

describe('a file that was removed while it was written', () => {
  it('is found without a fault, and told', async () => {
    const { told, watch, pass } = watchOver(['written', 'removed', 'written']);
    await pass(5_000);
    expect(told).toEqual([]);
    await pass(5_000);
    expect(told).toEqual(['gap: removed while in use and started again: log; nothing else is missing']);
    await pass(5_000);
    expect(told).toHaveLength(1);
    watch.dispose();
  });
});

it('a watch that is given up says what stays of a disk that still fails, and nothing of one that does not', () => {
  const failing = watchOver(['failing']);
  failing.watch.failed('log', new Error('ENOSPC'));
  expect(failing.watch.giveUp()).toMatch(/^the disk failed from .* to the end of the task/);
  expect(failing.clock.timerCount).toBe(0);
  expect(watchOver(['written']).watch.giveUp()).toBeUndefined();
});
