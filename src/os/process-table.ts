// Pure.
import type { Pid } from './pid.js';
import type { MarkedProcess, ProcessInfo } from './process-info.js';

/** Total processor time and resident memory of some processes. */
export interface ProcessUsage {
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
}

/** The process table. It never returns zombies: they have ended. */
export interface ProcessTable {
  readonly kind: 'proc' | 'ps';
  /** All living processes. Rejects when the system does not list them. */
  table(): Promise<ProcessInfo[]>;
  /** The same with marks. Environments of processes that started before `since` (a `startId`) are not read. */
  markedTable(since?: string): Promise<MarkedProcess[]>;
  /** A process and its ancestors with their marks, nearest first, as far as the system shows them. */
  lineage(pid: Pid): Promise<MarkedProcess[]>;
  /** Those of the pids that live. Rejects when the system does not report this for one of them. */
  find(pids: readonly Pid[]): Promise<ProcessInfo[]>;
  /** All command lines as one string. */
  commandLines(): Promise<string>;
  /** Ended processes count as 0. */
  usage(pids: readonly Pid[]): Promise<ProcessUsage>;
}
