// Pure.
import type { ProcessSpec } from './process-handle.js';
import type { ProcessRecord } from './process-record.js';
import type { RunningProcess } from './running-process.js';

/** What a keeper runs. It holds an environment, and is never written to disk. */
export interface KeptLaunch {
  readonly record: ProcessRecord;
  readonly spec: ProcessSpec;
}

/** Runs processes that outlive the server: each has a keeper. */
export interface ProcessKeepers {
  /** Throws BridgeError when it cannot be started; nothing is left behind then. */
  launch(launch: KeptLaunch): Promise<RunningProcess>;
  /** Undefined when its keeper is gone. */
  connect(record: ProcessRecord): Promise<RunningProcess | undefined>;
  /** Removes what a keeper that is gone left beside its record. */
  clear(record: ProcessRecord): Promise<void>;
  /** Closes all connections; the processes go on. */
  dispose(): void;
}
