import { withinMs, type Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { Emitter } from '../base/event.js';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import { headBytes, oneLine, tailChars } from '../base/text.js';
import type { ExitStatus, SessionDriver, SessionEvent, SessionRequest } from '../claude/session.js';
import type { Journal } from '../store/journal.js';
import { DecisionBook, sessionAnswerFor } from './decision-book.js';
import type { ReadableLog } from './readable-log.js';
import type { RecordWriter } from './record-writer.js';
import { canMove, isFinal, type TaskRecord, type TaskStatus } from './task.js';
import type { DecisionAnswer, ScreenText } from './task-host.js';
import type { TaskSpec } from './task-spec.js';
import { TaskStory } from './task-story.js';

/** Length of `last_output`, as the specification says. */
const LAST_OUTPUT_CHARS = 500;
const FINAL_MESSAGE_BYTES = 16_000;
const ACTIVITY_CHARS = 200;
/** A record lists this many changed files; git has the rest. */
const MAX_FILES_CHANGED = 200;
/** Messages that wait for the running turn; more than this is a caller that does not read answers. */
const MAX_QUEUED_MESSAGES = 20;
/** The files of a task are closed within this; a dead disk must not keep an ended task from being told. */
const FLUSH_LIMIT_MS = 3_000;

/** How the rules judge a request. */
export type Judgement = {
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
  readonly judge: (request: SessionRequest) => Promise<Judgement>;
  /** Ends every process that still carries the task's mark; resolves with how many there were. */
  readonly endLeftovers: () => Promise<number>;
  /** The identity of a running process, for the record. */
  readonly identify: (pid: number) => Promise<TaskRecord['agent'] | undefined>;
  /** Writes out log, journal and recording. */
  readonly flush: () => Promise<void>;
  /** Lets the project go; called when the last process is gone. */
  readonly release: () => Promise<void>;
}

interface Cause {
  readonly status: TaskStatus;
  readonly reason: string;
}

/**
 * One run of one task: the only writer of its record while it lives. Session events and callers' wishes come in, the
 * record, journal and log go out. Whatever ends it first is what the record says.
 */
export class TaskRun implements Disposable {
  readonly #parts: TaskRunParts;
  readonly #owned = new DisposableStore();
  readonly #changes = this.#owned.add(new Emitter<TaskRecord>());
  /** Each record that is on disk now: whoever is told of a change can read it there. */
  readonly onDidChange = this.#changes.event;
  readonly #decisions: DecisionBook;
  readonly #story: TaskStory;
  readonly #messages: string[] = [];
  readonly ended: Promise<TaskRecord>;
  #resolveEnded: (record: TaskRecord) => void = () => undefined;
  #record: TaskRecord;
  #cause: Cause | undefined;
  #turnRuns = false;
  #turnsDone = 0;
  #awaitsMessage = false;
  /** The work is done and the session is being left: messages come too late. */
  #leaving = false;
  readonly #judging = new Set<string>();
  #messageDeadline: Disposable | undefined;
  #startedMs: number | undefined;
  #finished = false;

  constructor(parts: TaskRunParts, initial: TaskRecord) {
    this.#parts = parts;
    this.#record = initial;
    this.#story = new TaskStory(parts.journal, parts.log);
    this.#decisions = this.#owned.add(
      new DecisionBook(
        parts.clock,
        parts.spec.settings.decision_timeout_seconds,
        (id) => void this.#onDeadline(id),
      ),
    );
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
    this.#owned.add(parts.driver.onEvent((event) => this.#onEvent(event)));
    this.#owned.add(
      parts.records.onDidWrite(() => {
        // A final record is told when the project is free, too.
        if (!this.#finished) this.#changes.fire(this.record);
      }),
    );
  }

  /** The record as of now; `elapsed_seconds` is current. */
  get record(): TaskRecord {
    return { ...this.#record, elapsed_seconds: this.#elapsedSeconds() };
  }

  /** Starts the agent. Throws what the driver throws; the caller then takes back what it prepared. */
  async start(): Promise<void> {
    const { spec, clock, driver, records } = this.#parts;
    this.#story.began(this.#record.prompt_summary);
    this.#move('starting', 'The agent is being started.', 'exact');
    await records.write(this.#record);
    this.#startedMs = clock.monotonicMs();
    await driver.start();
    this.#owned.add(clock.after(spec.timeout_seconds * 1000, () => this.#onTimeout()));
    // An end that came before there was a process to end.
    if (this.#cause !== undefined && !this.#finished) await driver.kill();
  }

  /** Answers an open decision. Throws DECISION_NOT_FOUND, DECISION_CLOSED or INVALID_ARGUMENTS. */
  async respond(answer: DecisionAnswer): Promise<TaskRecord> {
    const request = this.#decisions.requestOf(answer.decision_id);
    const sessionAnswer = sessionAnswerFor(request, answer);
    const words =
      answer.message ??
      (sessionAnswer.verdict === 'deny' ? sessionAnswer.message : answersInWords(sessionAnswer.answers));
    // Closed before the driver is told: a second answer that comes meanwhile loses.
    this.#close(answer.decision_id, answer.verdict, answer.by, words);
    if ((await this.#parts.driver.answer(request.requestId, sessionAnswer)) === 'gone') {
      this.#story.answeredTooLate(answer.decision_id, request.summary);
    }
    await this.#written();
    return this.record;
  }

  /** Sends a follow-up message, or interrupts the running turn, or both. Throws TASK_NOT_RUNNING. */
  async message(message: { readonly text?: string; readonly interrupt?: boolean }): Promise<TaskRecord> {
    this.#mustRun();
    if (message.text !== undefined) {
      if (this.#messages.length >= MAX_QUEUED_MESSAGES) {
        throw new BridgeError(
          'INVALID_ARGUMENTS',
          `${MAX_QUEUED_MESSAGES} messages already wait for the running turn.`,
          'Wait for the turn to end (wait_for_task), or interrupt it.',
        );
      }
      this.#messages.push(message.text);
    }
    if (message.interrupt === true && this.#turnRuns) {
      this.#story.interruptedByCaller();
      await this.#parts.driver.interrupt();
    }
    if (!this.#turnRuns && this.#turnsDone > 0) await this.#sendNext();
    await this.#written();
    return this.record;
  }

  /** Ends the task; resolves with its final record when every process is gone. The first cause stays. */
  async kill(reason: string): Promise<TaskRecord> {
    if (!this.#finished) this.#end({ status: 'killed', reason });
    return this.ended;
  }

  /** Ends the task because of the bridge itself. */
  fail(reason: string): void {
    this.#end({ status: 'error', reason });
  }

  /** The session cannot be driven, for a reason found outside of it (its version). */
  refuse(reason: string): void {
    this.#end({ status: 'failed', reason });
  }

  setVersion(version: string): void {
    this.#update({ cli_version: version });
  }

  async screen(): Promise<ScreenText> {
    return this.#parts.driver.screen();
  }

  dispose(): void {
    this.#messageDeadline?.dispose();
    this.#owned.dispose();
    this.#parts.driver.dispose();
  }

  #onEvent(event: SessionEvent): void {
    switch (event.type) {
      case 'spawned':
        this.#record = { ...this.#record, started_at: this.#now() };
        this.#move('running', 'The agent runs.', 'exact');
        void this.#parts.identify(event.pid).then((agent) => this.#update({ agent: agent ?? null }));
        return;
      case 'session':
        this.#update({
          session_id: event.sessionId,
          status_source: 'exact',
          ...(event.cliVersion === undefined ? {} : { cli_version: event.cliVersion }),
          ...(event.model === undefined ? {} : { model: event.model }),
        });
        return;
      case 'turn-started':
        this.#turnRuns = true;
        this.#awaitsMessage = false;
        this.#messageDeadline?.dispose();
        this.#story.turnStarted(event);
        this.#act('Working');
        this.#settleStatus(event.source);
        return;
      case 'tool-started':
        this.#story.toolStarted(event);
        this.#act(event.summary);
        return;
      case 'tool-finished':
        this.#addFiles(event.filesChanged);
        this.#story.toolFinished(event);
        return;
      case 'request':
        void this.#onRequest(event.request).catch((fault: unknown) =>
          this.fail(`A request could not be judged: ${messageOf(fault)}`),
        );
        return;
      case 'request-gone': {
        this.#judging.delete(event.requestId);
        const decisionId = this.#decisions.idOfRequest(event.requestId);
        if (decisionId !== undefined) this.#close(decisionId, 'withdrawn', 'session', event.why);
        return;
      }
      case 'turn-ended':
        void this.#onTurnEnded(event).catch((fault: unknown) =>
          this.fail(`The session could not be carried on: ${messageOf(fault)}`),
        );
        return;
      case 'said':
        this.#story.said(event.text);
        this.#act(event.text);
        return;
      case 'printed':
        this.#story.printed(event.lines);
        return;
      case 'notice':
        this.#story.noticed(event.text);
        this.#act(event.text);
        return;
      case 'trouble':
        this.#story.gotIntoTrouble(event);
        this.#end({ status: 'failed', reason: event.text });
        return;
      case 'output':
        this.#update({
          output_bytes: this.#record.output_bytes + event.bytes,
          last_output: this.#parts.driver.lastOutput(LAST_OUTPUT_CHARS),
        });
        return;
      case 'exited':
        void this.#finish(event.exit);
        return;
    }
  }

  async #onRequest(request: SessionRequest): Promise<void> {
    if (this.#cause !== undefined) return;
    this.#judging.add(request.requestId);
    const judgement = await this.#parts.judge(request);
    // Answered at the terminal meanwhile, or the task ended.
    if (!this.#judging.delete(request.requestId) || this.#finished) return;
    if (judgement.verdict === 'ask') {
      const decision = this.#decisions.open(request);
      this.#story.asked(decision);
      this.#settleStatus(request.source, 'asked');
      return;
    }
    const verdict = judgement.verdict;
    const reason = `${judgement.rule}: ${judgement.reason}`;
    const decision = this.#decisions.record(request, verdict, reason);
    this.#story.closed(decision);
    this.#changed({});
    await this.#parts.driver.answer(
      request.requestId,
      verdict === 'allow' ? { verdict } : { verdict, message: judgement.reason },
    );
  }

  async #onDeadline(decisionId: string): Promise<void> {
    const request = this.#decisions.requestOf(decisionId);
    const seconds = this.#parts.spec.settings.decision_timeout_seconds;
    const message = `No answer came within ${seconds} seconds, so this was denied. Go on without it, or choose another way.`;
    this.#close(decisionId, 'deny', 'deadline', message);
    await this.#parts.driver.answer(request.requestId, { verdict: 'deny', message });
  }

  #close(
    decisionId: string,
    verdict: 'allow' | 'allow_session' | 'deny' | 'withdrawn',
    by: string,
    reason: string | null,
  ): void {
    this.#story.closed(this.#decisions.close(decisionId, verdict, by, reason));
    this.#settleStatus('exact', 'closed');
  }

  async #onTurnEnded(event: Extract<SessionEvent, { type: 'turn-ended' }>): Promise<void> {
    this.#turnRuns = false;
    this.#turnsDone++;
    this.#changed({
      turns: this.#turnsDone,
      final_message:
        event.message === '' ? this.#record.final_message : headBytes(event.message, FINAL_MESSAGE_BYTES),
      status_source: event.source,
      change_seq: this.#record.change_seq + 1,
    });
    this.#story.turnEnded(event);
    if (this.#cause !== undefined) return;
    if (event.error !== undefined) {
      this.#end({ status: 'failed', reason: `Claude Code stopped: ${event.error.text}` }, 'close');
    } else if (this.#messages.length > 0) {
      await this.#sendNext();
    } else if (event.backgroundTasks > 0) {
      this.#update({ activity: `The turn is over; ${event.backgroundTasks} background task(s) still run` });
    } else if (this.#parts.spec.keep_open || event.interrupted === true) {
      this.#awaitMessage(event.interrupted === true);
    } else {
      this.#leaving = true;
      await this.#parts.driver.close();
    }
  }

  #awaitMessage(interrupted: boolean): void {
    this.#awaitsMessage = true;
    this.#update({ activity: 'Ready for a message (message_task)' });
    this.#settleStatus('exact');
    if (!interrupted || this.#parts.spec.keep_open) return;
    const seconds = this.#parts.spec.settings.decision_timeout_seconds;
    this.#messageDeadline = this.#parts.clock.after(seconds * 1000, () =>
      this.#end(
        {
          status: 'failed',
          reason: `The turn was interrupted, and no further message came within ${seconds} seconds.`,
        },
        'close',
      ),
    );
  }

  async #sendNext(): Promise<void> {
    const text = this.#messages.shift();
    if (text === undefined) return;
    this.#messageDeadline?.dispose();
    this.#awaitsMessage = false;
    this.#turnRuns = true;
    this.#story.messageSent(text);
    this.#settleStatus('exact');
    await this.#parts.driver.send(text);
  }

  #onTimeout(): void {
    const { timeout_seconds } = this.#parts.spec;
    if (this.#awaitsMessage && this.#decisions.openCount === 0) {
      this.#end(
        {
          status: 'completed',
          reason: `Its work was done; the session was kept open until the time limit of ${timeout_seconds} seconds.`,
        },
        'close',
      );
    } else {
      this.#end({
        status: 'timeout',
        reason: `The task exceeded its time limit of ${timeout_seconds} seconds.`,
      });
    }
  }

  /** The first cause wins; the status itself changes when the processes are gone. */
  #end(cause: Cause, how: 'kill' | 'close' = 'kill'): void {
    if (this.#cause !== undefined || this.#finished) return;
    this.#cause = cause;
    this.#story.ending(cause.status, cause.reason);
    this.#act(cause.reason);
    const ended = how === 'kill' ? this.#parts.driver.kill() : this.#parts.driver.close();
    ended.catch((fault: unknown) =>
      this.#parts.logger.error('the session could not be ended', { fault: messageOf(fault) }),
    );
  }

  async #finish(exit: ExitStatus): Promise<void> {
    const { records, driver, endLeftovers, flush, release, logger, clock } = this.#parts;
    const cause = this.#cause ?? this.#causeOf(exit);
    this.#cause = cause;
    const lastOutput =
      this.#record.final_message !== '' && cause.status === 'completed'
        ? this.#record.final_message
        : driver.lastOutput(LAST_OUTPUT_CHARS);
    for (const decisionId of this.#decisions.openIds)
      this.#close(decisionId, 'withdrawn', 'session', 'the task ended');
    const leftovers = await endLeftovers().catch((fault: unknown) => {
      logger.error('leftover processes could not be ended', { fault: messageOf(fault) });
      return 0;
    });
    if (leftovers > 0) this.#story.leftoversEnded(leftovers);
    this.#story.ended(cause.status, cause.reason, exit);
    const final: TaskRecord = {
      ...this.record,
      status: cause.status,
      reason: cause.reason,
      exit_code: exit.exitCode,
      signal: exit.signal,
      ended_at: this.#now(),
      activity: '',
      last_output: tailChars(lastOutput, LAST_OUTPUT_CHARS),
      decisions: this.#decisions.all,
      change_seq: this.#record.change_seq + 1,
    };
    if (!canMove(this.#record.status, final.status))
      logger.error('an unexpected end', { from: this.#record.status, to: final.status });
    this.#finished = true;
    // Whoever reads that it has ended may start the next one.
    await release().catch((fault: unknown) =>
      logger.error('the project could not be released', { fault: messageOf(fault) }),
    );
    // Side by side: a waiting client is told when both are done, and each of them waits for the disk.
    await Promise.all([withinMs(clock, FLUSH_LIMIT_MS, flush()), records.write(final)]);
    this.#record = final;
    this.#changes.fire(final);
    this.#resolveEnded(final);
  }

  #causeOf(exit: ExitStatus): Cause {
    if (exit.signal !== null)
      return { status: 'failed', reason: `The agent was ended by the signal ${exit.signal}.` };
    if (exit.exitCode === 0) {
      return {
        status: 'completed',
        reason: this.#turnsDone > 0 ? 'The agent finished its work.' : 'The agent exited with code 0.',
      };
    }
    const shown = oneLine(this.#parts.driver.lastOutput(LAST_OUTPUT_CHARS), ACTIVITY_CHARS);
    return {
      status: 'failed',
      reason: `The agent exited with code ${exit.exitCode ?? 'unknown'}${shown === '' ? '.' : `: ${shown}`}`,
    };
  }

  /** `waiting` while a decision or a message is needed, else `running`. A decision asked or closed is a change by itself. */
  #settleStatus(source: 'exact' | 'observed', decision?: 'asked' | 'closed'): void {
    const before = this.#record.change_seq;
    if (this.#record.status === 'running' || this.#record.status === 'waiting') {
      const open = this.#decisions.all.filter((candidate) => candidate.closed_at === null);
      const first = open[0];
      if (first !== undefined) {
        const more = open.length > 1 ? ` (and ${open.length - 1} more)` : '';
        this.#move('waiting', `Waits for an answer to: ${first.summary}${more}`, source);
      } else if (this.#awaitsMessage) {
        this.#move('waiting', 'The turn is over; the session waits for a message.', source);
      } else {
        this.#move('running', 'The agent runs.', source);
      }
    }
    if (decision !== undefined && this.#record.change_seq === before)
      this.#changed({ change_seq: before + 1 });
  }

  #move(to: TaskStatus, reason: string, source: 'exact' | 'observed'): void {
    const from = this.#record.status;
    if (from === to) {
      if (this.#record.reason !== reason) this.#changed({ reason });
      return;
    }
    if (!canMove(from, to)) {
      this.#parts.logger.error('a forbidden change of status was refused', { from, to, reason });
      return;
    }
    this.#story.statusChanged(from, to, reason, source);
    this.#changed({ status: to, reason, status_source: source, change_seq: this.#record.change_seq + 1 });
  }

  /** What the session does now, on one line. */
  #act(words: string): void {
    this.#update({ activity: oneLine(words, ACTIVITY_CHARS) });
  }

  #addFiles(files: readonly string[]): void {
    const added = files.filter((file) => !this.#record.files_changed.includes(file));
    if (added.length === 0) return;
    this.#update({ files_changed: [...this.#record.files_changed, ...added].slice(0, MAX_FILES_CHANGED) });
  }

  /** A change that callers act on: written at once, then told. */
  #changed(fields: Partial<TaskRecord>): void {
    if (this.#finished) return;
    this.#record = { ...this.#record, ...fields, decisions: this.#decisions.all };
    this.#parts.records
      .write(this.#record)
      .catch((fault: unknown) =>
        this.#parts.logger.error('the record could not be written', { fault: messageOf(fault) }),
      );
  }

  /** A change that only keeps the view fresh: written and told when it is convenient. */
  #update(fields: Partial<TaskRecord>): void {
    if (this.#finished) return;
    this.#record = { ...this.#record, ...fields };
    this.#parts.records.writeSoon(() => this.record);
  }

  /** Resolves when the record is on disk: what a caller was answered it can read in the next moment. */
  async #written(): Promise<void> {
    if (!this.#finished) await this.#parts.records.write(this.#record);
  }

  #mustRun(): void {
    const { task_id, status, reason } = this.#record;
    const isEnding = this.#cause !== undefined || this.#leaving;
    if (!isFinal(status) && !isEnding) return;
    throw new BridgeError(
      'TASK_NOT_RUNNING',
      isFinal(status)
        ? `Task ${task_id} is ${status}: ${reason}`
        : `Task ${task_id} is ending: ${this.#cause?.reason ?? 'its work is done.'}`,
      'Start a new task with start_task; with keep_open its session waits for messages after each turn.',
    );
  }

  #elapsedSeconds(): number {
    if (isFinal(this.#record.status) || this.#startedMs === undefined) return this.#record.elapsed_seconds;
    return Math.floor((this.#parts.clock.monotonicMs() - this.#startedMs) / 1000);
  }

  #now(): string {
    return new Date(this.#parts.clock.now()).toISOString();
  }
}

function answersInWords(answers: Readonly<Record<string, string>> | undefined): string | null {
  if (answers === undefined) return null;
  return Object.entries(answers)
    .map(([question, answer]) => `${question} → ${answer}`)
    .join('; ');
}
