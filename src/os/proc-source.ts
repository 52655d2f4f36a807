import { readdirSync, readFileSync } from 'node:fs';
import { systemCodeOf } from '../base/errors.js';
import { isOwnProc } from './own-proc.js';
import { MARK_VARIABLE } from './mark-variable.js';
import { pidOf, type Pid } from './pid.js';
import { type MarkedProcess, type ProcessInfo, startedBefore } from './process-info.js';
import type { ProcessTable, ProcessUsage } from './process-table.js';
import { isPidInUse } from './pid-in-use.js';

/** `kthreadd`: its children are the kernel's own threads, which have no environment. */
const KERNEL_THREAD_DAEMON = 2;
/** Linux reports processor time in hundredths of a second, whatever its own clock rate is. */
const TICKS_A_SECOND = 100;
const KIB = 1_024;
/** Fields 14 to 17 of /proc/<pid>/stat (proc(5)), counted from behind the name: the times of the process and its ended children. */
const TIME_FIELDS = [11, 12, 13, 14];
/** Field 22 of proc(5), counted in the same way. */
const START_FIELD = 19;

/** The process table in /proc. Reads are synchronous: /proc is in memory, and hundreds of processes take milliseconds. */
export const procSource: ProcessTable = {
  kind: 'proc',
  table: async () => listedPids().flatMap((pid) => readStat(pid) ?? []),
  markedTable: async (since) =>
    listedPids().flatMap((pid): MarkedProcess[] => {
      const info = readStat(pid);
      if (info === undefined) return [];
      const isEarlier = since !== undefined && startedBefore(info.startId, since);
      const isUnmarked = isEarlier || info.parentPid === KERNEL_THREAD_DAEMON;
      return [{ ...info, mark: isUnmarked ? undefined : markIn(readOwn(`/proc/${pid}/environ`)) }];
    }),
  lineage: async (pid) => {
    requireOwnProc();
    const found = new Map<Pid, MarkedProcess>();
    for (let info = readStat(pid); info !== undefined && !found.has(info.pid);) {
      found.set(info.pid, { ...info, mark: markIn(readOwn(`/proc/${info.pid}/environ`)) });
      info = info.parentPid === undefined ? undefined : readStat(info.parentPid);
    }
    return [...found.values()];
  },
  find: async (pids) => {
    requireOwnProc();
    return pids.flatMap((pid) => findOne(pid) ?? []);
  },
  commandLines: async () =>
    listedPids()
      .map((pid) => readOwn(`/proc/${pid}/cmdline`))
      .join('\n'),
  usage: async (pids) =>
    pids.reduce<ProcessUsage>(
      ({ cpuSeconds, memoryBytes }, pid) => ({
        cpuSeconds: cpuSeconds + cpuSecondsInStat(readOwn(`/proc/${pid}/stat`)),
        memoryBytes: memoryBytes + residentBytes(readOwn(`/proc/${pid}/status`)),
      }),
      { cpuSeconds: 0, memoryBytes: 0 },
    ),
};

function listedPids(): Pid[] {
  requireOwnProc();
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (pidOf(name) ?? []) : []));
}

function requireOwnProc(): void {
  if (!isOwnProc()) throw new Error('/proc does not show the pid namespace in which this process runs');
}

/** Undefined for a process that ended between the listing and the reading. */
function readStat(pid: Pid): ProcessInfo | undefined {
  return parseProcStat(readOwn(`/proc/${pid}/stat`));
}

/** Undefined when it has ended. Throws when the system does not report whether it has. */
function findOne(pid: Pid): ProcessInfo | undefined {
  try {
    return parseProcStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch (error) {
    // ESRCH: it ended between opening and reading.
    if (systemCodeOf(error) === 'ESRCH') return undefined;
    // ENOENT may also mean that /proc is not mounted or hides the process; other errors (EMFILE) say nothing about it.
    if (systemCodeOf(error) === 'ENOENT' && !isPidInUse(pid)) return undefined;
    throw error;
  }
}

/** Empty for a process that has ended or belongs to another user: the bridge could not signal it anyway. */
function readOwn(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** The mark in the content of /proc/<pid>/environ. */
export function markIn(environment: string): string | undefined {
  const name = `\0${MARK_VARIABLE}=`;
  const text = `\0${environment}`;
  const at = text.indexOf(name);
  if (at === -1) return undefined;
  const from = at + name.length;
  const end = text.indexOf('\0', from);
  const mark = text.slice(from, end === -1 ? undefined : end);
  return mark === '' ? undefined : mark;
}

/** Parses /proc/<pid>/stat (proc(5)); undefined for a zombie. The name may hold spaces, brackets and newlines. */
export function parseProcStat(text: string): ProcessInfo | undefined {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  const pid = pidOf(text.slice(0, Math.max(0, open - 1)));
  const fields = fieldsOf(text);
  const [state = 'X', parentPid, group, session] = fields;
  const startId = fields[START_FIELD];
  if (pid === undefined || startId === undefined || ['Z', 'X', 'x'].includes(state)) return undefined;
  return {
    pid,
    parentPid: pidOf(parentPid),
    group: pidOf(group),
    session: pidOf(session),
    startId,
    name: text.slice(open + 1, close),
  };
}

/** Processor time from /proc/<pid>/stat, including that of ended children. */
export function cpuSecondsInStat(text: string): number {
  const fields = fieldsOf(text);
  return TIME_FIELDS.reduce((sum, field) => sum + Number(fields[field] ?? 0), 0) / TICKS_A_SECOND;
}

/** Resident memory from /proc/<pid>/status; 0 for a process that is just ending. */
export function residentBytes(text: string): number {
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(text)?.[1] ?? 0) * KIB;
}

/** The fields behind the name: the first is the state, field 3 of proc(5). */
function fieldsOf(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
