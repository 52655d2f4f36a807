import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../../src/base/errors.js';
import { SLOW } from './slow.js';

/** The one limit of waits in tests: far more than what is waited for takes, also beside other work. */
export const LIMIT_MS = 30_000 * SLOW;
const LOOK_INTERVAL_MS = 25;

/**
 * Waits until `probe` neither throws nor answers false, and gives its answer: an `expect` in it is tried again. Where an event tells,
 * wait for that instead (`TaskClient.until` waits by `wait_for_task`). Rejects after `LIMIT_MS` with `what` and the last fault.
 */
export async function until<T>(what: string, probe: () => T | Promise<T>): Promise<Exclude<T, false>> {
  const deadlineMs = performance.now() + LIMIT_MS;
  for (;;) {
    let fault: unknown = new Error('it is not so');
    try {
      const answer = await probe();
      if (isAnswer(answer)) return answer;
    } catch (error) {
      fault = error;
    }
    if (performance.now() > deadlineMs)
      throw new Error(`waited ${LIMIT_MS / 1000} s for: ${what}. ${messageOf(fault)}`, { cause: fault });
    await pause(LOOK_INTERVAL_MS);
  }
}

function isAnswer<T>(answer: T): answer is Exclude<T, false> {
  return answer !== false;
}
