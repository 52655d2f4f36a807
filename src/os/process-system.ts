import { systemCodeOf } from '../base/errors.js';
import { pidOf, type Pid } from './pid.js';
import { processSource } from './process-source.js';
import type { ProcessTable } from './process-table.js';

/** `refused`: the process belongs to another user. */
export type Delivery = 'sent' | 'gone' | 'refused';

/** What selecting and signalling need of a machine; tests use a fake one. */
export interface ProcessSystem {
  readonly source: ProcessTable;
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

/** kill(2), with its expected errors as values. `target` is negative for a group. Only for the files of this folder. */
export function kill(target: number, name: NodeJS.Signals): Delivery {
  try {
    process.kill(target, name);
    return 'sent';
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ESRCH') return 'gone';
    // macOS also returns EPERM for a group that holds only zombies.
    if (code === 'EPERM') return 'refused';
    throw error;
  }
}
