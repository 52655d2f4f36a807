import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Pid } from '../../os/pid.js';
import { processSource } from '../../os/process-source.js';
import type { ProcessStats } from '../process-handle.js';
import { listenersInTable, portsInLsof } from './port-tables.js';

const LSOF_LIMIT_MS = 5_000;
/** At most so many open files of a process are checked. A check costs a microsecond. */
const MAX_FILES = 10_000;

/** Time, memory and ports of living processes that belong together. What the system does not report counts as 0. */
export async function statsOf(pids: readonly Pid[]): Promise<ProcessStats> {
  const usage = await processSource.usage(pids);
  // What may not be checked is left out.
  const ports = process.platform === 'linux' ? portsFromProc(pids) : portsInLsof(await lsof(pids));
  const listeningPorts = [...new Set(ports)].sort((a, b) => a - b);
  return { ...usage, processCount: pids.length, listeningPorts };
}

/** A process listens where a socket that it has open is in the table of its network. */
function portsFromProc(pids: readonly number[]): number[] {
  const networks = new Map(pids.map((pid) => [read(() => readlinkSync(`/proc/${pid}/ns/net`)), pid]));
  const tables = [...networks.values()].flatMap((pid) =>
    ['tcp', 'tcp6'].map((name) => read(() => readFileSync(`/proc/${pid}/net/${name}`, 'latin1')) ?? ''),
  );
  const byInode = new Map(tables.flatMap(listenersInTable).map(({ inode, port }) => [inode, port]));
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
