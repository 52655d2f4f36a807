import type { Pid } from './pid.js';
import { processSource } from './process-source.js';

/** True for a process that was halted (SIGSTOP) and answers nobody until it may go on; false for one that is gone. */
export async function isHalted(pid: Pid): Promise<boolean> {
  return (await processSource.find([pid])).some((one) => one.isHalted);
}
