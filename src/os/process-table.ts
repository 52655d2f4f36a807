import type { Pid } from './pid.js';
import type { MarkedProcess, ProcessInfo } from './process-info.js';

/** Processor time and resident memory of some processes together. */
export interface ProcessUsage {
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
}

/** The process table. Zombies have ended: no answer holds them. */
export interface ProcessTable {
  readonly kind: 'proc' | 'ps';
  /** All living processes. Rejects when the system does not list them. */
  table(): Promise<ProcessInfo[]>;
  /** The same with marks. Environments of processes that started before `since` (a `startId`) are not read. */
  markedTable(since?: string): Promise<MarkedProcess[]>;
  /** Those of the pids that live. Rejects when the system does not say whether one of them does. */
  find(pids: readonly Pid[]): Promise<ProcessInfo[]>;
  /** All command lines in one text. */
  commandLines(): Promise<string>;
  /** Ended processes count as nothing. */
  usage(pids: readonly Pid[]): Promise<ProcessUsage>;
}
