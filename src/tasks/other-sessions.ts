// Pure.
import type { TaskRecord } from './task.js';

export type Patience = 'look' | 'whole';

/** Sessions of Claude Code that are on this machine without a task: each is read as a record that is on no disk. */
export interface OtherSessions {
  /**
   * Newest first; none that `known`, the records of all tasks, stands for. Never rejects. `patience`: `look` takes what is known within
   * a moment, `whole` waits until the list is there.
   */
  records(known: readonly TaskRecord[], patience: Patience): Promise<readonly TaskRecord[]>;
}

/** What is read in place of a log. */
export const NO_LOG =
  'The plugin code-bridge is not in this session, so the bridge has no log of it: its terminal shows it.\n';

/** Whether the record is of such a session. */
export function isOtherSession({ driver, log_file }: Pick<TaskRecord, 'driver' | 'log_file'>): boolean {
  return driver === 'native' && log_file === '';
}
