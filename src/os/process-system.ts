import { systemCodeOf } from '../base/errors.js';
import { pidOf, type Pid } from './pid.js';
import { processSource } from './process-source.js';
import type { ProcessTable } from './process-table.js';

/** `refused`: it belongs to another user. */
export type Delivery = 'sent' | 'gone' | 'refused';

/** What choosing and signalling need of a machine. Tests put a made one in its place. */
export interface ProcessSystem {
  readonly source: ProcessTable;
  /** This process. */
  readonly self: Pid;
  readonly send: (pid: Pid, name: NodeJS.Signals) => Delivery;
}

const self = pidOf(process.pid);
if (self === undefined) throw new Error('This process has no process id.');

export const thisMachine: ProcessSystem = {
  source: processSource,
  self,
  send: (pid, name) => kill(pid, name),
};

/** kill(2), with its expected errors as values. `target` is negative for a group. Only the files of this folder call it. */
export function kill(target: number, name: NodeJS.Signals): Delivery {
  try {
    process.kill(target, name);
    return 'sent';
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ESRCH') return 'gone';
    // macOS also says so of a group that holds only zombies.
    if (code === 'EPERM') return 'refused';
    throw error;
  }
}
