import type { Clock } from '../base/clock.js';
import { type OutputBytes, type RunningProcess, totalOf } from './process-handle.js';
import { OutputReader } from './output/output-reader.js';
import { textFrom } from './output/read-text.js';
import type { HoldsText } from './output/search-output.js';
import type { OutputStream } from '../pty/child.js';

/** Output that pauses for so long is taken for all that came of an input. */
const QUIET_MS = 200;
/** A pattern is searched in the newest output; what is further back was searched before. */
const SEARCH_BYTES = 64 * 1024;

/** Why the wait is over. */
export type WaitOutcome = 'quiet' | 'found' | 'limit' | 'ended' | 'cancelled';

export interface WaitOptions {
  readonly running: RunningProcess;
  readonly folder: string;
  /** What had been printed before. */
  readonly before: OutputBytes;
  /** What is waited for in the new output; without it, for a pause. */
  readonly holds?: HoldsText | undefined;
  readonly limitMs: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

/** Waits for what comes of an input: a pause behind it, or a text in it. Throws when its keeper does not answer any more. */
export async function waitForOutput(options: WaitOptions): Promise<WaitOutcome> {
  const { running, before, holds, limitMs, clock, signal } = options;
  const untilMs = clock.monotonicMs() + limitMs;
  let seen = totalOf(before);
  let hasPrinted = false;
  for (;;) {
    if (signal?.aborted) return 'cancelled';
    const leftMs = untilMs - clock.monotonicMs();
    const isPausing = hasPrinted && holds === undefined;
    const waitMs = Math.max(0, isPausing ? Math.min(QUIET_MS, leftMs) : leftMs);
    const waiting = running.untilPrints(seen, waitMs);
    // If this fails, what was printed before may still hold the text.
    await waiting.catch(() => undefined);
    const printed = await running.printed();
    const isNew = totalOf(printed) > seen;
    seen = totalOf(printed);
    hasPrinted ||= isNew;
    if (holds !== undefined && isNew && (await holdsNew(options, printed, holds))) return 'found';
    if (running.record.status === 'terminated') return 'ended';
    await waiting;
    if (!isNew && isPausing) return 'quiet';
    if (clock.monotonicMs() >= untilMs) return 'limit';
  }
}

const STREAMS: readonly OutputStream[] = ['stdout', 'stderr', 'terminal'];

async function holdsNew(options: WaitOptions, printed: OutputBytes, holds: HoldsText): Promise<boolean> {
  for (const stream of STREAMS) {
    const from = options.before[stream] ?? 0;
    const end = printed[stream] ?? 0;
    if (end <= from) continue;
    const reader = new OutputReader(options.folder, stream);
    const { text } = await textFrom(reader, Math.max(from, end - SEARCH_BYTES), SEARCH_BYTES, true);
    if (holds(text)) return true;
  }
  return false;
}
