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
