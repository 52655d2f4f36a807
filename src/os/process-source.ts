import type { Pid } from './pid.js';
import type { MarkedProcess, ProcessInfo } from './process-info.js';
import { procSource } from './proc-source.js';
import { psSource } from './ps-source.js';

/** Processor time and resident memory of some processes together. */
export interface ProcessUsage {
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
}

/** Where the process table comes from. Zombies have ended: no answer holds them. */
export interface ProcessSource {
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

/**
 * `/proc` on Linux, `ps` elsewhere. CLAUDE_CODE_BRIDGE_PROCESS_TABLE=ps selects `ps` on Linux, too: the tests run so a
 * second time. Keepers inherit the variable.
 */
export const processSource: ProcessSource =
  process.platform === 'linux' && process.env['CLAUDE_CODE_BRIDGE_PROCESS_TABLE'] !== 'ps'
    ? procSource
    : psSource;
