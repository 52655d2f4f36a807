import { until } from './until.js';

/** Asks a process of a test to end, and waits until it has. */
export async function endProcess(pid: number): Promise<void> {
  let signal: NodeJS.Signals | 0 = 'SIGTERM';
  await until(`process ${pid} has ended`, () => {
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    signal = 0;
    return false;
  });
}
