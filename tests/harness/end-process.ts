import { setTimeout as sleep } from 'node:timers/promises';

const LIMIT_MS = 10_000;

/** Asks a process of a test to end, and waits until it has. */
export async function endProcess(pid: number): Promise<void> {
  const deadlineMs = performance.now() + LIMIT_MS;
  for (let signal: NodeJS.Signals | 0 = 'SIGTERM'; ; signal = 0) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended.
      return;
    }
    if (performance.now() > deadlineMs) throw new Error(`process ${pid} does not end`);
    await sleep(20);
  }
}
