// Pure.
import type { RuleRow } from '../../approvals/modes.js';
import { withinMs, type Clock } from '../../base/clock.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import { type Disposable, DisposableStore, Emitter } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import { headBytes, oneLine, tailChars } from '../../base/text.js';
import type { CheckWork } from '../../checks/allowed-checks.js';
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
import { checkWords, isOpenIn, type Cause, type Phase } from './session-phase.js';
import { leftoverWords, TaskStory, type EventSink, type ReadableLog } from './task-story.js';

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
  /** Undefined for a task without checks. */
  readonly checks?: CheckWork | undefined;
  /** With links resolved; of a missing path, those of its nearest existing parent. */
  readonly realPath: (path: string) => Promise<string>;
  /** The identity of a running process, for the record. */
  readonly identify: (pid: Pid) => Promise<TaskRecord['agent'] | undefined>;
  /** Writes out log, journal and recording. */
  readonly flush: () => Promise<void>;
  /** Lets the project go; called when the last process is gone. */
  readonly release: () => void;
}

/**
 * The state of a run, which its parts share: the record, and the status in it, which follows from decisions, dialog and phase. Every
 * change of the record goes through here, to disk first and then to the listeners. The first cause of an end wins.
 */
export class RunState implements Disposable {
  readonly parts: TaskRunParts;
  readonly story: TaskStory;
  readonly decisions: DecisionBook;
  readonly #changes = new Emitter<TaskRecord>();
  /** Each record that is on disk now, and in between what the session shows. */
  readonly onDidChange = this.#changes.event;
  #resolveEnded: (record: TaskRecord) => void = () => undefined;
  /** Resolves with the final record when it is on disk and all that belonged to the run is gone. */
  readonly ended: Promise<TaskRecord> = new Promise((resolve) => (this.#resolveEnded = resolve));
  #record: TaskRecord;
  #phase: Phase = { at: 'starting' };
  /** Of this phase alone. */
  #timers = new DisposableStore();
  #isEndTold = false;
  /** A dialog that waits at the terminal and is no request. */
  #dialog: string | null = null;
  /** What a caller should know while the session works. */
  #warning = '';

  constructor(parts: TaskRunParts, initial: TaskRecord, onDeadline: (decisionId: string) => void) {
    const { clock, spec, journal, log, records } = parts;
    this.parts = parts;
    this.#record = initial;
    this.story = new TaskStory(journal, log);
    this.decisions = new DecisionBook(clock, spec.settings.decision_timeout_seconds, onDeadline);
    records.onDidWrite((record) => {
      // The final record is reported when the project is free, too.
      if (this.#phase.at !== 'ended') this.#changes.fire(record);
    });
  }

  /** The record as of now; `elapsed_seconds` is current. */
  get record(): TaskRecord {
    const { status, started_monotonic_ms: startedMs } = this.#record;
    if (isFinal(status) || startedMs === null) return this.#record;
    const elapsedMs = this.parts.clock.monotonicMs() - startedMs;
    return { ...this.#record, elapsed_seconds: Math.floor(elapsedMs / 1000) };
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** The session goes on: it is neither being left nor over. */
  get isOpen(): boolean {
    return isOpenIn(this.#phase);
  }

  /** A message can be sent: no turn runs. The first turn has its message from the start. */
  get takesMessage(): boolean {
    return this.isOpen && this.#phase.at !== 'starting' && this.#phase.at !== 'turn';
  }

  /** A session is left for the first cause alone, and then ends. Throws for any other move: what comes from outside asks `isOpen` first. */
  enter(to: Phase): void {
    const { at, cause } = this.#phase;
    const isLeft = at !== 'ended' && cause === undefined;
    const canFollow = to.at === 'ended' ? at === 'leaving' : to.at === 'leaving' ? isLeft : this.isOpen;
    if (!canFollow) throw new Error(`The phase of a session cannot go from ${at} to ${to.at}.`);
    this.#phase = to;
    this.#timers.dispose();
    this.#timers = new DisposableStore();
  }

  /** Calls `act` after this time, unless the phase is another one by then. */
  after(ms: number, act: () => void): Disposable {
    return this.#timers.add(this.parts.clock.after(ms, act));
  }

  /** Disposes `owned` when the phase is another one. */
  duringPhase(owned: Disposable): void {
    this.#timers.add(owned);
  }

  /** The agent is being started. Throws STATE_UNUSABLE when the record is not on disk. */
  async starting(): Promise<void> {
    const { records } = this.parts;
    this.story.began(this.#record.prompt_summary);
    this.#move('starting', 'The agent is being started.', 'exact');
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
      started_monotonic_ms: this.#record.started_monotonic_ms ?? this.parts.clock.monotonicMs(),
    };
    if (this.#record.status === 'starting') this.#move('running', this.#runs, 'exact');
    else this.settle('exact');
  }

  /** Gives the task the status that follows from decisions and phase. `isNews`: callers are woken in any case. */
  settle(source: 'exact' | 'observed', isNews = false): void {
    const { status, change_seq } = this.#record;
    const waitsFor = this.#waitsFor();
    if (status === 'running' || status === 'waiting')
      this.#move(waitsFor === undefined ? 'running' : 'waiting', waitsFor ?? this.#runs, source);
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
    this.#record = { ...this.#record, ...fields, ...this.decisions.recorded };
    this.#write();
  }

  /** A change that callers do not act on: written and reported within a second. */
  show(fields: Partial<TaskRecord>): void {
    if (this.#phase.at === 'ended') return;
    this.#record = { ...this.#record, ...fields };
    this.parts.records.writeSoon(() => this.record);
  }

  /** The message of the turn before is none of the turn that runs, also if that one is cut off. */
  forgetMessage(): void {
    if (this.#record.final_message !== '') this.changed({ final_message: '' });
  }

  /** The disk fails, or writes again, also when the end has come: what the record says of it last must be so. Null when nothing is missing. */
  setStorage(state: 'failing' | 'back', words: string, storage: string | null): void {
    this.story.storage(state, words);
    this.#record = { ...this.#record, storage };
    if (this.#phase.at === 'ended' && !this.#isEndTold) return;
    this.#write();
    if (this.#isEndTold) this.#changes.fire(this.#record);
  }

  /** Resolves when the record is on disk, with it: what a caller was answered it can read in the next moment. */
  async written(): Promise<TaskRecord> {
    if (this.#phase.at !== 'ended') await this.parts.records.write(this.record);
    return this.record;
  }

  /** Ends the session for the first cause given; the status itself changes when its processes are gone. */
  end(cause: Cause, how: 'kill' | 'close' = 'kill'): void {
    if (this.#phase.cause !== undefined) return;
    this.enter({ at: 'leaving', cause });
    this.story.ending(cause.status, cause.reason);
    this.act(cause.reason);
    void this.parts.driver[how]().catch(this.#logged('the session could not be ended'));
  }

  /** Work in the background whose fault ends the task. */
  orFail(what: string, work: Promise<unknown>): void {
    work.catch((error: unknown) => this.end({ status: 'error', reason: `${what}: ${messageOf(error)}` }));
  }

  /** The agent is gone, for this cause: the last process goes, the files are closed, and then the end is reported. */
  async finish({ reason, ...end }: Cause, exit: ExitStatus): Promise<void> {
    const met = checkWords(this.#record);
    const cause = { ...end, reason: met === '' ? reason : `${reason.replace(/\.$/, '')}${met}.` };
    const { records, driver, endLeftovers, isStored, flush, release, clock } = this.parts;
    const { final_message, session_id } = this.#record;
    const isAnswer = final_message !== '' && (cause.status === 'completed' || exit.code === 0);
    const lastOutput = isAnswer ? final_message : driver.lastOutput(LAST_OUTPUT_CHARS);
    const programs = await endLeftovers().catch(this.#logged('leftover processes could not be ended'));
    if (programs !== undefined && programs.length > 0)
      this.story.tell('leftovers-ended', { count: programs.length, programs }, leftoverWords(programs));
    // Where that is not known, the session stays: Claude Code then refuses to go on from it.
    const hasSession = session_id !== null && (await isStored(session_id).catch(() => true));
    this.story.ended(cause.status, cause.reason, exit);
    this.enter({ at: 'ended', cause });
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
      ...this.decisions.recorded,
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
    return new Date(this.parts.clock.now()).toISOString();
  }

  dispose(): void {
    this.decisions.dispose();
    this.#timers.dispose();
    this.#changes.dispose();
  }

  #move(to: TaskStatus, words: string, source: 'exact' | 'observed'): void {
    const { status: from, reason: before, change_seq } = this.#record;
    const reason = boundedWords(words);
    if (from === to) {
      if (before !== reason) this.changed({ reason });
    } else if (!canMove(from, to)) {
      this.parts.logger.error('a forbidden change of status was refused', { from, to, reason });
    } else {
      this.story.statusChanged(from, to, reason, source);
      this.changed({ status: to, reason, status_source: source, change_seq: change_seq + 1 });
    }
  }

  get #runs(): string {
    const { at, words = '' } = this.#phase;
    if (at === 'checking') return 'The agent says that its work is done; the checks run.';
    return at === 'background' ? `${TURN_OVER}${words}.` : `The agent runs.${this.#warning}`;
  }

  /** In words; undefined while the session works, or is being left. */
  #waitsFor(): string | undefined {
    const { question } = this.decisions;
    if (question !== undefined) return question;
    if (this.#dialog !== null && this.isOpen) return `${oneLine(this.#dialog, DIALOG_CHARS)}. ${AT_TERMINAL}`;
    const { at, words, interrupted } = this.#phase;
    if (at === 'blocked') return words;
    if (at !== 'message') return undefined;
    const goesOn = words === undefined ? '' : `${words}, and `;
    const turn = interrupted === true ? 'was interrupted' : `is over${checkWords(this.#record)}`;
    return `The turn ${turn}; ${goesOn}${WAITS_FOR_MESSAGE}`;
  }

  #write(): void {
    void this.parts.records.write(this.#record).catch(this.#logged('the record could not be written'));
  }

  #logged(what: string): (error: unknown) => undefined {
    return (error) => void this.parts.logger.error(what, { error: messageOf(error) });
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
