// Pure.
import { headBytes, oneLine, tailChars } from '../../base/text.js';
import type { RuleRow } from '../../approvals/modes.js';
import { withinMs, type Clock } from '../../base/clock.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import { type Disposable, Emitter } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import type { ExitStatus, SessionDriver, SessionRequest } from '../../claude/session.js';
import type { Pid } from '../../os/pid.js';
import type { Spent } from '../budget/budget.js';
import { DecisionBook } from '../decisions/decision-book.js';
import type { RecordWriter } from '../record/record-writer.js';
import {
  AT_TERMINAL,
  canMove,
  isFinal,
  type PermissionMode,
  type TaskRecord,
  type TaskStatus,
  TURN_OVER,
  WAITS_FOR_MESSAGE,
} from '../task.js';
import type { TaskSpec } from '../task-spec.js';
import type { ReadableLog } from './readable-log.js';
import { SessionPhase, type Cause } from './session-phase.js';
import { leftoverWords, TaskStory, type EventSink } from './task-story.js';

/** Length of `last_output`, as the specification says. */
export const LAST_OUTPUT_CHARS = 500;
/** The files of a task are closed within this: the end of a task is reported although the disk is dead. */
export const FLUSH_LIMIT_MS = 3_000;
const ACTIVITY_CHARS = 200;
const DIALOG_CHARS = 1_000;
/** A record lists this many changed files; git has the rest. */
const MAX_FILES_CHANGED = 200;
/** A longer path is none of this system. */
const MAX_PATH_CHARS = 4_096;
/** What the session says of itself (why it ended, its id, its model) has a few words. */
const MAX_WORDS_BYTES = 4_000;

/** What the rules say about a request. */
export interface RuleVerdict {
  readonly verdict: 'allow' | 'deny' | 'ask';
  readonly rule: string;
  readonly reason: string;
}

/** Everything that a run is given; what it is given it does not dispose, except the driver. */
export interface TaskRunParts {
  readonly spec: TaskSpec;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly driver: SessionDriver;
  readonly journal: EventSink;
  readonly log: ReadableLog;
  readonly records: RecordWriter;
  /** What the other tasks of the day used. Left out for a task that no budget of a day limits. */
  readonly spentByOthers?: (() => Promise<Spent>) | undefined;
  /** `mode`: by whose rules; the approval of a plan may have changed it. */
  readonly check: (request: SessionRequest, mode: PermissionMode) => RuleVerdict;
  /** Of the settings, and of a project whose settings Claude Code does not read itself. */
  readonly rules: readonly RuleRow[];
  /** Ends every process that still carries the task's mark; resolves with the name of each program. */
  readonly endLeftovers: () => Promise<readonly string[]>;
  /** Whether Claude Code has stored a session of that id: only then can another one go on from it. */
  readonly isStored: (sessionId: string) => Promise<boolean>;
  /** With links resolved; of a missing path, those of its nearest existing parent. */
  readonly realPath: (path: string) => Promise<string>;
  /** The identity of a running process, for the record. */
  readonly identify: (pid: Pid) => Promise<TaskRecord['agent'] | undefined>;
  /** Writes out log, journal and recording. */
  readonly flush: () => Promise<void>;
  /** Lets the project go; called when the last process is gone. */
  readonly release: () => void;
}

/** What the parts of a run share. */
export interface RunCore extends TaskRunParts {
  readonly state: RunState;
  readonly story: TaskStory;
  readonly phase: SessionPhase;
  readonly decisions: DecisionBook;
}

/**
 * The state of a run: its record, and the status in it, which follows from decisions, dialog and phase. Every change of the record goes
 * through here, to disk first and then to the listeners. The first cause of an end wins.
 */
export class RunState implements Disposable {
  readonly core: RunCore;
  readonly #phase: SessionPhase;
  readonly #changes = new Emitter<TaskRecord>();
  /** Each record that is on disk now, and in between what the session shows. */
  readonly onDidChange = this.#changes.event;
  #resolveEnded: (record: TaskRecord) => void = () => undefined;
  /** Resolves with the final record when it is on disk and all that belonged to the run is gone. */
  readonly ended: Promise<TaskRecord> = new Promise((resolve) => (this.#resolveEnded = resolve));
  #record: TaskRecord;
  #isEndTold = false;
  /** A dialog that waits at the terminal and is no request. */
  #dialog: string | null = null;
  /** What a caller should know while the session works. */
  #warning = '';

  constructor(parts: TaskRunParts, initial: TaskRecord, onDeadline: (decisionId: string) => void) {
    const { clock, spec, journal, log, records } = parts;
    this.#record = initial;
    this.#phase = new SessionPhase(clock);
    this.core = {
      ...parts,
      state: this,
      story: new TaskStory(journal, log),
      phase: this.#phase,
      decisions: new DecisionBook(clock, spec.settings.decision_timeout_seconds, onDeadline),
    };
    records.onDidWrite((record) => {
      // The final record is reported when the project is free, too.
      if (this.#phase.at !== 'ended') this.#changes.fire(record);
    });
  }

  /** The record as of now; `elapsed_seconds` is current. */
  get record(): TaskRecord {
    return { ...this.#record, elapsed_seconds: this.#elapsedSeconds() };
  }

  /** The agent is being started. Throws STATE_UNUSABLE when the record is not on disk. */
  async starting(): Promise<void> {
    const { records, story } = this.core;
    story.began(this.#record.prompt_summary);
    this.move('starting', 'The agent is being started.', 'exact');
    await records.write(this.record);
    // An agent of which nothing is on disk could not be found when this process dies.
    if (records.isFailing)
      throw new BridgeError(
        'STATE_UNUSABLE',
        `The record of ${this.#record.task_id} could not be written, so its agent was not started.`,
        'Make room on the disk of the state directory, and check that it is yours and writable.',
      );
  }

  /** The agent's process runs. A session that is resumed has another process; the task began with its first. */
  spawned(): void {
    this.#record = {
      ...this.#record,
      started_at: this.#record.started_at ?? this.nowText(),
      started_monotonic_ms: this.#record.started_monotonic_ms ?? this.core.clock.monotonicMs(),
    };
    if (this.#record.status === 'starting') this.move('running', this.#runs, 'exact');
    else this.settle('exact');
  }

  move(to: TaskStatus, words: string, source: 'exact' | 'observed'): void {
    const { status: from, reason: before, change_seq } = this.#record;
    const reason = boundedWords(words);
    if (from === to) {
      if (before !== reason) this.changed({ reason });
    } else if (!canMove(from, to)) {
      this.core.logger.error('a forbidden change of status was refused', { from, to, reason });
    } else {
      this.core.story.statusChanged(from, to, reason, source);
      this.changed({ status: to, reason, status_source: source, change_seq: change_seq + 1 });
    }
  }

  /** Gives the task the status that follows from decisions and phase. `isNews`: callers are woken in any case. */
  settle(source: 'exact' | 'observed', isNews = false): void {
    const { status, change_seq } = this.#record;
    const waitsFor = this.#waitsFor();
    if (status === 'running' || status === 'waiting')
      this.move(waitsFor === undefined ? 'running' : 'waiting', waitsFor ?? this.#runs, source);
    if (isNews && this.#record.change_seq === change_seq) this.changed({ change_seq: change_seq + 1 });
  }

  /** A dialog waits at the terminal that nobody can answer but there; null when it is gone. */
  setDialog(text: string | null): void {
    this.#dialog = text;
    this.settle('observed');
  }

  /** Said in the status from now on, while the session works. `words` have no full stop. */
  warn(words: string): void {
    this.#warning = ` ${words}.`;
    this.settle('exact', true);
  }

  /** What the session does now, on one line. */
  act(words: string): void {
    this.show({ activity: oneLine(words, ACTIVITY_CHARS) });
  }

  /** A change that callers act on: written at once, then reported. */
  changed(fields: Partial<TaskRecord>): void {
    if (this.#phase.at === 'ended') return;
    this.#record = { ...this.#record, ...fields, ...this.core.decisions.recorded };
    this.#write();
  }

  /** A change that callers do not act on: written and reported within a second. */
  show(fields: Partial<TaskRecord>): void {
    if (this.#phase.at === 'ended') return;
    this.#record = { ...this.#record, ...fields };
    this.core.records.writeSoon(() => this.record);
  }

  /** The message of the turn before is none of the turn that runs, also if that one is cut off. */
  forgetMessage(): void {
    if (this.#record.final_message !== '') this.changed({ final_message: '' });
  }

  /** How the disk is, also when the end has come: what the record says of it last must be so. */
  setStorage(storage: string | null): void {
    this.#record = { ...this.#record, storage };
    if (this.#phase.at === 'ended' && !this.#isEndTold) return;
    this.#write();
    if (this.#isEndTold) this.#changes.fire(this.#record);
  }

  /** Resolves when the record is on disk: what a caller was answered it can read in the next moment. */
  async written(): Promise<void> {
    if (this.#phase.at !== 'ended') await this.core.records.write(this.record);
  }

  /** Ends the session for the first cause given; the status itself changes when its processes are gone. */
  end(cause: Cause, how: 'kill' | 'close' = 'kill'): void {
    const { driver, story } = this.core;
    if (this.#phase.cause !== undefined) return;
    this.#phase.move({ at: 'leaving', cause });
    story.ending(cause.status, cause.reason);
    this.act(cause.reason);
    void driver[how]().catch(this.#logged('the session could not be ended'));
  }

  /** The agent is gone, for this cause: the last process goes, the files are closed, and then the end is reported. */
  async finish(cause: Cause, exit: ExitStatus): Promise<void> {
    const { records, driver, endLeftovers, isStored, flush, release, clock, story } = this.core;
    const { final_message, session_id } = this.#record;
    const isAnswer = final_message !== '' && (cause.status === 'completed' || exit.code === 0);
    const lastOutput = isAnswer ? final_message : driver.lastOutput(LAST_OUTPUT_CHARS);
    const leftovers = await endLeftovers().catch(this.#logged('leftover processes could not be ended'));
    if (leftovers !== undefined && leftovers.length > 0)
      story.tell(
        'leftovers-ended',
        { count: leftovers.length, programs: leftovers },
        leftoverWords(leftovers),
      );
    // Where that is not known, the session stays: Claude Code then refuses to go on from it.
    const hasSession = session_id !== null && (await isStored(session_id).catch(() => true));
    story.ended(cause.status, cause.reason, exit);
    this.#phase.move({ at: 'ended', cause });
    // Before the end is reported: a caller that reads it may start the next task.
    await Promise.resolve().then(release).catch(this.#logged('the project could not be released'));
    const final: TaskRecord = {
      ...this.record,
      ...cause,
      reason: boundedWords(cause.reason),
      exit_code: exit.code ?? null,
      signal: exit.signal ?? null,
      session_id: hasSession ? session_id : null,
      last_output: tailChars(lastOutput, LAST_OUTPUT_CHARS),
      ended_at: this.nowText(),
      activity: '',
      ...this.core.decisions.recorded,
      change_seq: this.#record.change_seq + 1,
    };
    // At the same time: a client waits for both, and each of them waits for the disk.
    const flushed = flush().catch(this.#logged('the files of the task could not be closed'));
    await Promise.all([withinMs(clock, FLUSH_LIMIT_MS, flushed), records.write(final)]);
    this.#isEndTold = true;
    this.#record = { ...final, storage: this.#record.storage };
    if (this.#record.storage !== final.storage) this.#write();
    this.#changes.fire(this.#record);
    this.#resolveEnded(this.#record);
  }

  nowText(): string {
    return new Date(this.core.clock.now()).toISOString();
  }

  dispose(): void {
    this.core.decisions.dispose();
    this.#phase.dispose();
    this.#changes.dispose();
  }

  get #runs(): string {
    const { now } = this.#phase;
    if (now.at === 'background') return `${TURN_OVER}${now.words ?? ''}.`;
    return `The agent runs.${this.#warning}`;
  }

  /** In words; undefined while the session works, or is being left. */
  #waitsFor(): string | undefined {
    const { question } = this.core.decisions;
    if (question !== undefined) return question;
    if (this.#dialog !== null && this.#phase.isOpen)
      return `${oneLine(this.#dialog, DIALOG_CHARS)}. ${AT_TERMINAL}`;
    const { now } = this.#phase;
    if (now.at === 'blocked') return now.words;
    if (now.at !== 'message') return undefined;
    const goesOn = now.words === undefined ? '' : `${now.words}, and `;
    return `The turn ${now.interrupted === true ? 'was interrupted' : 'is over'}; ${goesOn}${WAITS_FOR_MESSAGE}`;
  }

  #write(): void {
    void this.core.records.write(this.#record).catch(this.#logged('the record could not be written'));
  }

  #logged(what: string): (error: unknown) => undefined {
    return (error) => void this.core.logger.error(what, { error: messageOf(error) });
  }

  #elapsedSeconds(): number {
    const { status, started_monotonic_ms: startedMs, elapsed_seconds } = this.#record;
    if (isFinal(status) || startedMs === null) return elapsed_seconds;
    return Math.floor((this.core.clock.monotonicMs() - startedMs) / 1000);
  }
}

/** The changed files of a record, with `files`, as far as they are new and it has room. */
export function addedFiles(known: readonly string[], files: readonly string[]): string[] {
  const added = files.filter((file) => file.length <= MAX_PATH_CHARS && !known.includes(file));
  return [...known, ...added].slice(0, MAX_FILES_CHANGED);
}

/** A text of the session in the record, cut: every reader of the task reads the whole record. */
export function boundedWords(text: string): string {
  return headBytes(text, MAX_WORDS_BYTES);
}
