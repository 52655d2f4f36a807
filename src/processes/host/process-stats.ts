import type { Pid } from '../../os/pid.js';
import type { ProcessInfo } from '../../os/process-info.js';
import { processSource } from '../../os/process-source.js';
import type { ProcessStats } from '../process-handle.js';
import { listeningPorts } from './listening-ports.js';

/** Time, memory and ports of living processes that belong together. What the system does not report counts as 0. */
export async function statsOf(
  members: readonly ProcessInfo[],
  first: { readonly pid: Pid | undefined; readonly isWrapped: boolean },
): Promise<ProcessStats> {
  const program = members.find((one) => (first.isWrapped ? one.parentPid : one.pid) === first.pid);
  const pids = members.map((one) => one.pid);
  const [usage, ports] = await Promise.all([processSource.usage(pids), listeningPorts(pids)]);
  return {
    ...(program !== undefined && { systemPid: program.pid }),
    ...usage,
    processCount: members.length,
    listeningPorts: ports,
  };
}
