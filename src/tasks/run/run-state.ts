import { messageOf } from '../../base/errors.js';
import { Emitter } from '../../base/event.js';
import { DisposableStore, type Disposable } from '../../base/lifecycle.js';
import { headBytes, oneLine } from '../../base/text/text.js';
import type { DecisionBook } from '../decisions/decision-book.js';
import {
  AT_TERMINAL,
  canMove,
  IN_ITS_TERMINAL,
  isFinal,
  isNative,
  openDecisions,
  type TaskRecord,
  type TaskStatus,
  type TaskTrouble,
  TURN_OVER,
  WAITS_FOR_MESSAGE,
} from '../task.js';
import type { SessionPhase } from './session-phase.js';
import type { TaskRunParts } from './task-run-parts.js';
import type { TaskStory } from './task-story.js';

const ACTIVITY_CHARS = 200;
const DIALOG_CHARS = 1_000;
/** A record lists this many changed files; git has the rest. */
const MAX_FILES_CHANGED = 200;
/** A longer path is none of this system. */
const MAX_PATH_CHARS = 4_096;
/** What the session says of itself (why it ended, its id, its model) has a few words. */
const MAX_WORDS_BYTES = 4_000;

/** The record of a run while it lives: every change of it goes through here, to disk first and then to the listeners. */
export class RunState implements Disposable {
  readonly #parts: Pick<TaskRunParts, 'clock' | 'logger' | 'records'>;
  readonly #story: TaskStory;
  readonly #phase: SessionPhase;
  readonly #decisions: DecisionBook;
  readonly #owned = new DisposableStore();
  readonly #changes = this.#owned.add(new Emitter<TaskRecord>());
  /** Each record that is on disk now, and in between what the session shows. */
  readonly onDidChange = this.#changes.event;
  #record: TaskRecord;
  #startedMs: number | undefined;
  /** What was said of the disk last. */
  #storageAtEnd: Pick<TaskRecord, 'storage'> | undefined;
  /** A dialog that waits at the terminal and is no request. */
  #dialog: string | null = null;
  /** What a caller should know while the session works. */
  #warning = '';

  constructor(
    parts: Pick<TaskRunParts, 'clock' | 'logger' | 'records'>,
    story: TaskStory,
    phase: SessionPhase,
    decisions: DecisionBook,
    initial: TaskRecord,
  ) {
    this.#parts = parts;
    this.#story = story;
    this.#phase = phase;
    this.#decisions = decisions;
    this.#record = initial;
    this.#owned.add(
      parts.records.onDidWrite((record) => {
        // The final record is reported when the project is free, too.
        if (!this.#phase.isEnded) this.#changes.fire(record);
      }),
    );
  }

  /** The record as of now; `elapsed_seconds` is current. */
  get record(): TaskRecord {
    return { ...this.#record, elapsed_seconds: this.#elapsedSeconds() };
  }

  /** Time counts from here. */
  startTime(): void {
    this.#startedMs = this.#parts.clock.monotonicMs();
  }

  /** The agent's process runs. */
  spawned(): void {
    this.#record = {
      ...this.#record,
      // A session that is resumed has another process; the task began with its first.
      started_at: this.#record.started_at ?? this.nowText(),
      started_monotonic_ms: this.#record.started_monotonic_ms ?? this.#parts.clock.monotonicMs(),
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
      this.#parts.logger.error('a forbidden change of status was refused', { from, to, reason });
      return;
    }
    this.#story.statusChanged(from, to, reason, source);
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
    const added = files.filter(
      (file) => file.length <= MAX_PATH_CHARS && !this.#record.files_changed.includes(file),
    );
    if (added.length === 0) return;
    this.update({ files_changed: [...this.#record.files_changed, ...added].slice(0, MAX_FILES_CHANGED) });
  }

  /** A change that callers act on: written at once, then reported. */
  changed(fields: Partial<TaskRecord>): void {
    if (this.#phase.isEnded) return;
    this.#record = { ...this.#record, ...bounded(fields), ...this.#decided() };
    this.#write(this.#record);
  }

  /** The message of the turn before is none of the turn that runs, also if that one is cut off. */
  forgetMessage(): void {
    if (this.#record.final_message !== '') this.changed({ final_message: '' });
  }

  /** How the disk is, also when the end has come: what the record says of it last must be so. */
  setStorage(storage: string | null): void {
    this.#storageAtEnd = { storage };
    if (!this.#phase.isEnded) this.changed({ storage });
    else if (isFinal(this.#record.status)) this.finish(this.#record);
  }

  /** A change that callers do not act on: written and reported within a second. */
  update(fields: Partial<TaskRecord>): void {
    if (this.#phase.isEnded) return;
    this.#record = { ...this.#record, ...bounded(fields) };
    this.#parts.records.writeSoon(() => this.record);
  }

  /**
   * A change of what the session shows: written and reported within a second.
   */
  show(fields: Pick<Partial<TaskRecord>, 'activity' | 'last_output' | 'output_bytes'>): void {
    if (this.#phase.isEnded) return;
    this.#record = { ...this.#record, ...fields };
    this.#parts.records.writeSoon(() => this.record);
  }

  /** Resolves when the record is on disk: what a caller was answered it can read in the next moment. */
  async written(): Promise<void> {
    if (!this.#phase.isEnded) await this.#parts.records.write(this.record);
  }

  /** The record that an end makes of this one. From here on nothing but `finish` changes it. */
  close(end: Partial<TaskRecord> & { readonly status: TaskStatus }): TaskRecord {
    const final: TaskRecord = {
      ...this.record,
      ...bounded(end),
      ended_at: this.nowText(),
      activity: '',
      ...this.#decided(),
      change_seq: this.#record.change_seq + 1,
    };
    if (!canMove(this.#record.status, final.status))
      this.#parts.logger.error('an unexpected end', { from: this.#record.status, to: final.status });
    return final;
  }

  /** The final record is on disk and the project is free: it is reported. */
  finish(final: TaskRecord): void {
    this.#record = { ...final, ...this.#storageAtEnd };
    if (this.#record.storage !== final.storage) this.#write(this.#record);
    this.#changes.fire(this.#record);
  }

  nowText(): string {
    return new Date(this.#parts.clock.now()).toISOString();
  }

  dispose(): void {
    this.#owned.dispose();
  }

  get #runs(): string {
    const { now } = this.#phase;
    if (now.name === 'idle' && now.why === 'background') return `${TURN_OVER}${now.goesOn ?? ''}.`;
    return `${isNative(this.#record) ? 'The session runs.' : 'The agent runs.'}${this.#warning}`;
  }

  /** In words; undefined while the session works, or is being left. */
  #waitsFor(): string | undefined {
    const open = openDecisions({ ...this.#record, decisions: this.#decisions.all });
    const first = open[0];
    if (first !== undefined) {
      const more = open.length > 1 ? ` (and ${open.length - 1} more)` : '';
      return `Waits for an answer to: ${first.summary}${more}`;
    }
    if (this.#dialog !== null && this.#phase.isOpen)
      return `${oneLine(this.#dialog, DIALOG_CHARS)}. ${isNative(this.#record) ? IN_ITS_TERMINAL : AT_TERMINAL}`;
    const { now } = this.#phase;
    if (now.name === 'blocked') return now.reason;
    if (now.name !== 'idle' || now.why !== 'message') return undefined;
    const goesOn = now.goesOn === undefined ? '' : `${now.goesOn}, and `;
    return `The turn ${now.interrupted === true ? 'was interrupted' : 'is over'}; ${goesOn}${WAITS_FOR_MESSAGE}`;
  }

  #decided(): Pick<TaskRecord, 'decisions' | 'decisions_dropped'> {
    const { all, dropped } = this.#decisions;
    return { decisions: all, ...(dropped > 0 && { decisions_dropped: dropped }) };
  }

  #write(record: TaskRecord): void {
    this.#parts.records
      .write(record)
      .catch((error: unknown) =>
        this.#parts.logger.error('the record could not be written', { error: messageOf(error) }),
      );
  }

  #elapsedSeconds(): number {
    if (isFinal(this.#record.status) || this.#startedMs === undefined) return this.#record.elapsed_seconds;
    return Math.floor((this.#parts.clock.monotonicMs() - this.#startedMs) / 1000);
  }
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
