import { Readable } from 'node:stream';
import type { EngineClient } from '../engine/docker-engine.js';

/** The kernel's word on memory comes to the engine by another way than that of the end, and a moment later at most. */
const MEMORY_WORD_MS = 500;
/** An end is looked into when its output has been read. What ran out of memory longer ago was not the end. */
const LOOK_BACK_MS = 5_000;

/**
 * Whether the kernel ended a process of the container for its memory, a moment before `nowMs` (of the wall clock): the engine
 * remembers its newest events, also those of a container that is gone. Waits half a second for the word.
 */
export async function wasOutOfMemory(
  client: EngineClient,
  containerId: string,
  nowMs: number,
  abortSignal: AbortSignal,
): Promise<boolean> {
  const events: unknown = await client.getEvents({
    since: seconds(nowMs - LOOK_BACK_MS),
    until: seconds(nowMs + MEMORY_WORD_MS),
    filters: { type: ['container'], container: [containerId], event: ['oom'] },
    // dockerode takes it, and its types do not know it.
    ...{ abortSignal },
  });
  if (!(events instanceof Readable)) return false;
  return new Promise((resolve) => {
    // One is enough; the stream ends at `until`.
    events.once('data', () => {
      resolve(true);
      events.destroy();
    });
    for (const event of ['end', 'close', 'error']) events.once(event, () => resolve(false));
  });
}

/** As the engine reads a time: to the millisecond. */
function seconds(timeMs: number): number {
  return Math.round(timeMs) / 1_000;
}
