import type { ManualClock } from '../harness/manual-clock.js';

/** Lets everything run that waits for nothing but its turn; the screen parses in a timer of its own. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(() => setImmediate(resolve), 1));
}

/** Goes on in small steps, and lets what each timer begins run before the next. */
export async function pass(clock: ManualClock, ms: number, stepMs = 50): Promise<void> {
  await settle();
  for (let passedMs = 0; passedMs < ms; passedMs += stepMs) {
    clock.advance(Math.min(stepMs, ms - passedMs));
    await settle();
  }
}
