import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Pid } from '../../os/pid.js';
import type { ProcessInfo } from '../../os/process-info.js';
import { processSource } from '../../os/process-source.js';
import type { ProcessStats } from '../process-handle.js';
import { listenersInTable, portsInLsof } from './port-tables.js';

const LSOF_LIMIT_MS = 5_000;
/** At most so many open files of a process are checked. A check costs a microsecond. */
const MAX_FILES = 10_000;

/** TCP ports on which one of the processes listens, in order. What may not be checked is left out. */
export async function listeningPorts(pids: readonly number[]): Promise<number[]> {
  if (pids.length === 0) return [];
  const ports = process.platform === 'linux' ? portsFromProc(pids) : portsInLsof(await lsof(pids));
  return [...new Set(ports)].sort((a, b) => a - b);
}

function portsFromProc(pids: readonly number[]): number[] {
  const byInode = new Map<string, number>();
  const tables = new Set<string>();
  for (const pid of pids) {
    const place = read(() => readlinkSync(`/proc/${pid}/ns/net`));
    if (place === undefined || tables.has(place)) continue;
    tables.add(place);
    for (const name of ['tcp', 'tcp6']) {
      const table = read(() => readFileSync(`/proc/${pid}/net/${name}`, 'latin1')) ?? '';
      for (const { inode, port } of listenersInTable(table)) byInode.set(inode, port);
    }
  }
  if (byInode.size === 0) return [];
  return pids.flatMap((pid) => {
    const files = read(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
    return files.slice(0, MAX_FILES).flatMap((fd) => {
      const target = read(() => readlinkSync(`/proc/${pid}/fd/${fd}`));
      return byInode.get(/^socket:\[(\d+)\]$/.exec(target ?? '')?.[1] ?? '') ?? [];
    });
  });
}

function lsof(pids: readonly number[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(
      '/usr/sbin/lsof',
      ['-nP', '-iTCP', '-sTCP:LISTEN', '-a', '-p', pids.join(','), '-Fn'],
      { env: { LC_ALL: 'C' }, timeout: LSOF_LIMIT_MS },
      // It fails when there is nothing to list.
      (_fault, stdout) => resolve(stdout),
    );
  });
}

/** Undefined for what is gone, or another user's. */
function read<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

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
