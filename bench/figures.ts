import { readFileSync } from 'node:fs';

/** Median, 95th percentile and extremes of some samples; all in the samples' unit. */
export interface Figures {
  readonly median: number;
  readonly p95: number;
  readonly min: number;
  readonly max: number;
}

export function figuresOf(samples: readonly number[]): Figures {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
  return { median: at(0.5), p95: at(0.95), min: sorted[0] ?? NaN, max: sorted.at(-1) ?? NaN };
}

/** Two that are compared. */
export interface Pair {
  readonly rounds: number;
  /** Before each round; it is not measured. */
  readonly before?: () => Promise<void>;
  readonly own: () => Promise<unknown>;
  readonly floor: () => Promise<unknown>;
}

/**
 * Both take turns, each first every second time, after a round that fills the caches. Milliseconds; ratio and difference are the median of
 * neighbours, since what slows the machine for a while slows both.
 */
export async function inTurn({ rounds, before, own, floor }: Pair): Promise<object> {
  const ms = new Map([own, floor].map((one) => [one, new Array<number>()]));
  for (let round = 0; round <= rounds; round++) {
    await before?.();
    for (const one of round % 2 === 0 ? [own, floor] : [floor, own]) {
      const startMs = performance.now();
      await one();
      if (round > 0) ms.get(one)?.push(performance.now() - startMs);
    }
  }
  const [ours = [], floors = []] = ms.values();
  const median = (of: (ours: number, floor: number) => number): number =>
    figuresOf(ours.map((one, round) => of(one, floors[round] ?? NaN))).median;
  return {
    ms: figuresOf(ours),
    floorMs: figuresOf(floors),
    ratio: median((one, other) => one / other),
    moreMs: median((one, other) => one - other),
  };
}

/** Resident and proportional memory of a process in MB (10^6 bytes), and its peak; Linux only. */
export function memoryOf(pid: number): { readonly rss: number; readonly pss: number; readonly peak: number } {
  const kilobytes = (file: string, key: string): number => {
    const match = new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/${file}`, 'utf8'));
    return (Number(match?.[1] ?? NaN) * 1024) / 1e6;
  };
  return {
    rss: kilobytes('status', 'VmRSS'),
    pss: kilobytes('smaps_rollup', 'Pss'),
    peak: kilobytes('status', 'VmHWM'),
  };
}
