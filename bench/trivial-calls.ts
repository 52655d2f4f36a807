import type { StdioClient } from './stdio-client.js';

const CALL_EVERY_MS = 20;

/** Asks for something trivial again and again; `stop` tells how long each call took, in milliseconds. */
export function trivialCalls(client: StdioClient, path: string): { stop: () => Promise<number[]> } {
  const tookMs: number[] = [];
  let isOver = false;
  const running = (async () => {
    while (!isOver) {
      const startMs = performance.now();
      await client.call('set_active_project', { path });
      tookMs.push(performance.now() - startMs);
      await new Promise((resolve) => setTimeout(resolve, CALL_EVERY_MS));
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await running;
      return tookMs;
    },
  };
}
