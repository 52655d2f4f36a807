import { messageOf } from '../../base/errors.js';
import { Emitter, DisposableStore, type Disposable } from '../../base/lifecycle.js';
import { headBytes, oneLine, tailChars } from '../../base/text.js';
import { withinMs } from '../../base/clock.js';
import type { ExitStatus } from '../../claude/session.js';
import { DecisionBook } from '../decisions/decision-book.js';
import {
  AT_TERMINAL,
  canMove,
  isFinal,
  type TaskRecord,
  type TaskStatus,
  type TaskTrouble,
  TURN_OVER,
  WAITS_FOR_MESSAGE,
} from '../task.js';
import { SessionPhase, type Cause } from './session-phase.js';
import type { TaskRunParts } from './task-run-parts.js';
import { TaskStory } from './task-story.js';

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

/** What the parts of a run share. */
export interface RunCore extends TaskRunParts {
  readonly state: RunState;
  readonly story: TaskStory;
  readonly phase: SessionPhase;
  readonly decisions: DecisionBook;
}

/**
 * The state of a run: its record, phase, decisions and story. Every change of the record goes through here, to disk first and then to the
 * listeners. The first cause of an end wins.
 */
export class RunState implements Disposable {
  readonly parts: TaskRunParts;
  readonly story: TaskStory;
  readonly phase = new SessionPhase();
  readonly decisions: DecisionBook;
  readonly #owned = new DisposableStore();
  readonly #changes = this.#owned.add(new Emitter<TaskRecord>());
  /** Each record that is on disk now, and in between what the session shows. */
  readonly onDidChange = this.#changes.event;
  #resolveEnded: (record: TaskRecord) => void = () => undefined;
  /** Resolves with the final record when it is on disk and all that belonged to the run is gone. */
  readonly ended: Promise<TaskRecord> = new Promise((resolve) => (this.#resolveEnded = resolve));
  #record: TaskRecord;
  #startedMs: number | undefined;
  /** What was said of the disk last. */
  #storageAtEnd: Pick<TaskRecord, 'storage'> | undefined;
  /** A dialog that waits at the terminal and is no request. */
  #dialog: string | null = null;
  /** What a caller should know while the session works. */
  #warning = '';

  constructor(parts: TaskRunParts, initial: TaskRecord, onDeadline: (decisionId: string) => void) {
    const { clock, spec, journal, log, records } = parts;
    this.parts = parts;
    this.story = new TaskStory(journal, log, clock);
    this.decisions = this.#owned.add(
      new DecisionBook(clock, spec.settings.decision_timeout_seconds, onDeadline),
    );
    this.#record = initial;
    this.#owned.add(
      records.onDidWrite((record) => {
        // The final record is reported when the project is free, too.
        if (!this.phase.isEnded) this.#changes.fire(record);
      }),
    );
  }

  /** The record as of now; `elapsed_seconds` is current. */
  get record(): TaskRecord {
    return { ...this.#record, elapsed_seconds: this.#elapsedSeconds() };
  }

  /** Time counts from here. */
  startTime(): void {
    this.#startedMs = this.parts.clock.monotonicMs();
  }

  /** The agent's process runs. */
  spawned(): void {
    this.#record = {
      ...this.#record,
      // A session that is resumed has another process; the task began with its first.
      started_at: this.#record.started_at ?? this.nowText(),
      started_monotonic_ms: this.#record.started_monotonic_ms ?? this.parts.clock.monotonicMs(),
    };
    if (this.#record.status === 'starting') this.move('running', this.#runs, 'exact');
    else this.settle('exact');
  }

  move(to: TaskStatus, reason: string, source: 'exact' | 'observed'): void {
    const from = this.#record.status;
    if (from === to) {
      if (this.#record.reason !== reason) this.changed({ reason });
      return;
    }
    if (!canMove(from, to)) {
      this.parts.logger.error('a forbidden change of status was refused', { from, to, reason });
      return;
    }
    this.story.statusChanged(from, to, reason, source);
    this.changed({ status: to, reason, status_source: source, change_seq: this.#record.change_seq + 1 });
  }

  /** Gives the task the status that follows from decisions and phase. A decision asked or closed is a change in any case. */
  settle(source: 'exact' | 'observed', decision?: 'asked' | 'closed'): void {
    const before = this.#record.change_seq;
    if (this.#record.status === 'running' || this.#record.status === 'waiting') {
      const waitsFor = this.#waitsFor();
      if (waitsFor === undefined) this.move('running', this.#runs, source);
      else this.move('waiting', waitsFor, source);
    }
    if (decision !== undefined && this.#record.change_seq === before)
      this.changed({ change_seq: before + 1 });
  }

  /** A dialog waits at the terminal that nobody can answer but there; null when it is gone. */
  setDialog(text: string | null): void {
    this.#dialog = text;
    this.settle('observed');
  }

  /** Said in the status from now on, while the session works. `words` have no full stop. */
  warn(words: string): void {
    this.#warning = ` ${words}.`;
    this.settle('exact');
    this.changed({ change_seq: this.#record.change_seq + 1 });
  }

  /** What blocks the session now; null when that has passed. */
  setTrouble(trouble: TaskTrouble | null, source: 'exact' | 'observed'): void {
    this.#record = { ...this.#record, trouble };
    this.settle(source);
    // A decision may be open, too: then the status stays, and the trouble is still news.
    this.changed({});
  }

  /** What the session does now, on one line. */
  act(words: string): void {
    this.show({ activity: oneLine(words, ACTIVITY_CHARS) });
  }

  /** What is shown may be something later by now. */
  actIsOver(words: string): void {
    if (this.#record.activity === oneLine(words, ACTIVITY_CHARS)) this.show({ activity: 'Working' });
  }

  addFiles(files: readonly string[]): void {
    const { files_changed: known } = this.#record;
    const now = addedFiles(known, files);
    if (now.length > known.length) this.update({ files_changed: now });
  }

  /** A change that callers act on: written at once, then reported. */
  changed(fields: Partial<TaskRecord>): void {
    if (this.phase.isEnded) return;
    this.#record = { ...this.#record, ...bounded(fields), ...this.decisions.recorded };
    this.#write(this.#record);
  }

  /** The message of the turn before is none of the turn that runs, also if that one is cut off. */
  forgetMessage(): void {
    if (this.#record.final_message !== '') this.changed({ final_message: '' });
  }

  /** How the disk is, also when the end has come: what the record says of it last must be so. */
  setStorage(storage: string | null): void {
    this.#storageAtEnd = { storage };
    if (!this.phase.isEnded) this.changed({ storage });
    else if (isFinal(this.#record.status)) this.#report(this.#record);
  }

  /** A change that callers do not act on: written and reported within a second. */
  update(fields: Partial<TaskRecord>): void {
    if (this.phase.isEnded) return;
    this.#record = { ...this.#record, ...bounded(fields) };
    this.parts.records.writeSoon(() => this.record);
  }

  /**
   * A change of what the session shows: written and reported within a second.
   */
  show(fields: Pick<Partial<TaskRecord>, 'activity' | 'last_output' | 'output_bytes'>): void {
    if (this.phase.isEnded) return;
    this.#record = { ...this.#record, ...fields };
    this.parts.records.writeSoon(() => this.record);
  }

  /** Resolves when the record is on disk: what a caller was answered it can read in the next moment. */
  async written(): Promise<void> {
    if (!this.phase.isEnded) await this.parts.records.write(this.record);
  }

  /** Ends the session for the first cause given; the status itself changes when its processes are gone. */
  end(cause: Cause, how: 'kill' | 'close' = 'kill'): void {
    const { driver, logger } = this.parts;
    if (this.phase.cause !== undefined) return;
    this.phase.move({ name: 'leaving', cause });
    this.story.ending(cause.status, cause.reason);
    this.act(cause.reason);
    const ended = how === 'kill' ? driver.kill() : driver.close();
    ended.catch((error: unknown) =>
      logger.error('the session could not be ended', { error: messageOf(error) }),
    );
  }

  /** The agent is gone, for this cause: the last process goes, the files are closed, and then the end is reported. */
  async finish(cause: Cause, exit: ExitStatus): Promise<void> {
    const { records, driver, endLeftovers, flush, release, logger, clock } = this.parts;
    const { final_message } = this.#record;
    const lastOutput =
      final_message !== '' && (cause.status === 'completed' || exit.code === 0)
        ? final_message
        : driver.lastOutput(LAST_OUTPUT_CHARS);
    const leftovers = await endLeftovers().catch((error: unknown) => {
      logger.error('leftover processes could not be ended', { error: messageOf(error) });
      return [];
    });
    if (leftovers.length > 0) this.story.leftoversEnded(leftovers);
    this.story.ended(cause.status, cause.reason, exit);
    const final: TaskRecord = {
      ...this.record,
      ...bounded({ ...cause }),
      exit_code: exit.code ?? null,
      signal: exit.signal ?? null,
      last_output: tailChars(lastOutput, LAST_OUTPUT_CHARS),
      ended_at: this.nowText(),
      activity: '',
      ...this.decisions.recorded,
      change_seq: this.#record.change_seq + 1,
    };
    if (!canMove(this.#record.status, final.status))
      logger.error('an unexpected end', { from: this.#record.status, to: final.status });
    this.phase.move({ name: 'ended', cause });
    // Before the end is reported: a caller that reads it may start the next task.
    try {
      release();
    } catch (error) {
      logger.error('the project could not be released', { error: messageOf(error) });
    }
    // At the same time: a client waits for both, and each of them waits for the disk.
    const flushed = flush().catch((error: unknown) =>
      logger.error('the files of the task could not be closed', { error: messageOf(error) }),
    );
    await Promise.all([withinMs(clock, FLUSH_LIMIT_MS, flushed), records.write(final)]);
    this.#report(final);
    this.#resolveEnded(final);
  }

  #report(final: TaskRecord): void {
    this.#record = { ...final, ...this.#storageAtEnd };
    if (this.#record.storage !== final.storage) this.#write(this.#record);
    this.#changes.fire(this.#record);
  }

  nowText(): string {
    return new Date(this.parts.clock.now()).toISOString();
  }

  dispose(): void {
    this.#owned.dispose();
  }

  get #runs(): string {
    const { now } = this.phase;
    if (now.name === 'idle' && now.why === 'background') return `${TURN_OVER}${now.goesOn ?? ''}.`;
    return `The agent runs.${this.#warning}`;
  }

  /** In words; undefined while the session works, or is being left. */
  #waitsFor(): string | undefined {
    const { question } = this.decisions;
    if (question !== undefined) return question;
    if (this.#dialog !== null && this.phase.isOpen)
      return `${oneLine(this.#dialog, DIALOG_CHARS)}. ${AT_TERMINAL}`;
    const { now } = this.phase;
    if (now.name === 'blocked') return now.reason;
    if (now.name !== 'idle' || now.why !== 'message') return undefined;
    const goesOn = now.goesOn === undefined ? '' : `${now.goesOn}, and `;
    return `The turn ${now.interrupted === true ? 'was interrupted' : 'is over'}; ${goesOn}${WAITS_FOR_MESSAGE}`;
  }

  #write(record: TaskRecord): void {
    this.parts.records
      .write(record)
      .catch((error: unknown) =>
        this.parts.logger.error('the record could not be written', { error: messageOf(error) }),
      );
  }

  #elapsedSeconds(): number {
    if (isFinal(this.#record.status) || this.#startedMs === undefined) return this.#record.elapsed_seconds;
    return Math.floor((this.parts.clock.monotonicMs() - this.#startedMs) / 1000);
  }
}

/** The changed files of a record, with `files`, as far as they are new and it has room. */
export function addedFiles(known: readonly string[], files: readonly string[]): string[] {
  const added = files.filter((file) => file.length <= MAX_PATH_CHARS && !known.includes(file));
  return [...known, ...added].slice(0, MAX_FILES_CHANGED);
}

/** Texts that come from the session, cut: every reader of the task reads the whole record. */
function bounded<Fields extends Partial<TaskRecord>>(fields: Fields): Fields {
  const { reason, session_id, model, cli_version, message_id } = fields;
  return {
    ...fields,
    ...(reason !== undefined && { reason: headBytes(reason, MAX_WORDS_BYTES) }),
    ...(typeof session_id === 'string' && { session_id: headBytes(session_id, MAX_WORDS_BYTES) }),
    ...(typeof model === 'string' && { model: headBytes(model, MAX_WORDS_BYTES) }),
    ...(typeof cli_version === 'string' && { cli_version: headBytes(cli_version, MAX_WORDS_BYTES) }),
    ...(typeof message_id === 'string' && { message_id: headBytes(message_id, MAX_WORDS_BYTES) }),
  };
}
