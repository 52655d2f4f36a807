import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { ProcessInfo } from '../../pty/list-processes.js';
import type { ProcessStats } from '../process-handle.js';
import { listeningPorts } from './listening-ports.js';

/** Linux counts processor time for programs in hundredths of a second, whatever its own clock is. */
const TICKS_A_SECOND = 100;
const KIB = 1_024;
/** Positions in /proc/<pid>/stat counted behind the name: utime, stime, and those of children that were waited for. */
const TIME_FIELDS = [11, 12, 13, 14];
const PS_LIMIT_MS = 5_000;

/** Time, memory and ports of living processes that belong together. What the system does not tell counts as nothing. */
export async function statsOf(
  members: readonly ProcessInfo[],
  first: { readonly pid: number; readonly isWrapped: boolean },
): Promise<ProcessStats> {
  const program = members.find((one) => (first.isWrapped ? one.parentPid : one.pid) === first.pid);
  const pids = members.map((one) => one.pid);
  const [usage, ports] = await Promise.all([
    process.platform === 'linux' ? usageFromProc(pids) : usageFromPs(pids),
    listeningPorts(pids),
  ]);
  return {
    ...(program !== undefined && { systemPid: program.pid }),
    ...usage,
    processCount: members.length,
    listeningPorts: ports,
  };
}

type Usage = Pick<ProcessStats, 'cpuSeconds' | 'memoryBytes'>;

function usageFromProc(pids: readonly number[]): Usage {
  let cpuSeconds = 0;
  let memoryBytes = 0;
  for (const pid of pids) {
    try {
      cpuSeconds += cpuSecondsInStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
      memoryBytes += residentBytes(readFileSync(`/proc/${pid}/status`, 'latin1'));
    } catch {
      // It ended since the look: it uses nothing any more.
    }
  }
  return { cpuSeconds, memoryBytes };
}

/** Processor time in a text of /proc/<pid>/stat, that of its ended children included. */
export function cpuSecondsInStat(text: string): number {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = TIME_FIELDS.reduce((sum, field) => sum + Number(fields[field] ?? 0), 0);
  return ticks / TICKS_A_SECOND;
}

/** Resident memory in a text of /proc/<pid>/status; none of a process that is just ending. */
export function residentBytes(text: string): number {
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(text)?.[1] ?? 0) * KIB;
}

async function usageFromPs(pids: readonly number[]): Promise<Usage> {
  if (pids.length === 0) return { cpuSeconds: 0, memoryBytes: 0 };
  const output = await new Promise<string>((resolve) => {
    execFile(
      '/bin/ps',
      ['-o', 'rss=,time=', '-p', pids.join(',')],
      { env: { LC_ALL: 'C' }, timeout: PS_LIMIT_MS },
      // It fails when all have ended: then they use nothing.
      (_fault, stdout) => resolve(stdout),
    );
  });
  return usageInPs(output);
}

/** Time and memory in the output of `ps -o rss=,time=`; the time is `[[dd-]hh:]mm:ss[.ss]`. */
export function usageInPs(output: string): Usage {
  let cpuSeconds = 0;
  let memoryBytes = 0;
  for (const line of output.split('\n')) {
    const [, rss, days, time = ''] = /^\s*(\d+)\s+(?:(\d+)-)?([\d:.]+)\s*$/.exec(line) ?? [];
    if (rss === undefined) continue;
    memoryBytes += Number(rss) * KIB;
    cpuSeconds += time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
    cpuSeconds += Number(days ?? 0) * 24 * 3_600;
  }
  return { cpuSeconds, memoryBytes };
}
