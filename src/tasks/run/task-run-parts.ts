// Pure.
import type { RuleRow } from '../../approvals/modes.js';
import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { SessionDriver, SessionRequest } from '../../claude/session.js';
import type { Pid } from '../../os/pid.js';
import type { Journal } from '../../store/journal.js';
import type { DaySpending } from '../budget/day-spending.js';
import type { ReadableLog } from './readable-log.js';
import type { RecordWriter } from '../record/record-writer.js';
import type { PermissionMode, TaskRecord } from '../task.js';
import type { TaskSpec } from '../task-spec.js';

/** What the rules say about a request. */
export type RuleVerdict = {
  readonly verdict: 'allow' | 'deny' | 'ask';
  readonly rule: string;
  readonly reason: string;
};

/** Everything that a run is given; what it is given it does not dispose, except the driver. */
export interface TaskRunParts {
  readonly spec: TaskSpec;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly driver: SessionDriver;
  readonly journal: Journal;
  readonly log: ReadableLog;
  readonly records: RecordWriter;
  /** Left out for a session of a person, which no budget limits. */
  readonly spending?: Pick<DaySpending, 'others'> | undefined;
  /** `mode`: by whose rules; the approval of a plan may have changed it. */
  readonly check: (request: SessionRequest, mode: PermissionMode) => RuleVerdict;
  /** Of the settings, and of a project whose settings Claude Code does not read itself. */
  readonly rules: readonly RuleRow[];
  /** Ends every process that still carries the task's mark; resolves with how many there were. */
  readonly endLeftovers: () => Promise<readonly string[]>;
  /** With links resolved; of a missing path, those of its nearest existing parent. */
  readonly realPath: (path: string) => Promise<string>;
  /** The identity of a running process, for the record. */
  readonly identify: (pid: Pid) => Promise<TaskRecord['agent'] | undefined>;
  /** Writes out log, journal and recording. */
  readonly flush: () => Promise<void>;
  /** Lets the project go; called when the last process is gone. */
  readonly release: () => void;
}
