// Pure.
import { BridgeError, messageOf } from '../../base/errors.js';
import { type Event, DisposableStore, type Disposable } from '../../base/lifecycle.js';
import type { ExitStatus, SessionEvent, ToolCall } from '../../claude/session.js';
import { causeOfExit, endedWith, troubleReason } from './end-causes.js';
import { RunBudget } from './run-budget.js';
import { RunRequests } from './run-requests.js';
import { LAST_OUTPUT_CHARS, RunState, type RunCore } from './run-state.js';
import { RunTroubles } from './run-troubles.js';
import { RunTurns } from './run-turns.js';
import { goOnHint } from '../polling-hint.js';
import { isFinal, type TaskRecord } from '../task.js';
import type { DecisionAnswer, ScreenText, SentMessage } from '../task-host.js';
import type { TaskRunParts } from './task-run-parts.js';

/**
 * One run of one task: the only writer of its record while it lives. Session events and callers' requests come in, the
 * record, journal and log go out. The record says what ended it first.
 */
export class TaskRun implements Disposable {
  readonly #parts: RunCore;
  readonly #owned = new DisposableStore();
  readonly #state: RunState;
  readonly #requests: RunRequests;
  readonly #turns: RunTurns;
  readonly #troubles: RunTroubles;
  readonly #budget: RunBudget;
  /** Each record that is on disk now: a listener can read it there. */
  readonly onDidChange: Event<TaskRecord>;
  readonly ended: Promise<TaskRecord>;

  constructor(parts: TaskRunParts, initial: TaskRecord) {
    const state = this.#owned.add(
      new RunState(parts, initial, (decisionId) => void this.#requests.deadline(decisionId)),
    );
    const { story, phase, decisions } = state;
    const core = { ...parts, state, story, phase, decisions };
    this.#parts = core;
    this.#state = state;
    this.#requests = new RunRequests(core);
    this.#troubles = this.#owned.add(new RunTroubles(core, (text) => this.#turns.messages.goOn(text)));
    this.#turns = this.#owned.add(new RunTurns(core, this.#troubles));
    this.#budget = this.#owned.add(new RunBudget(core));
    this.onDidChange = state.onDidChange;
    this.ended = state.ended;
    this.#owned.add(parts.driver.onEvent((event) => this.#onEvent(event)));
  }

  /** The record as of now; `elapsed_seconds` is current. */
  get record(): TaskRecord {
    return this.#state.record;
  }

  /** Starts the agent. Throws what the driver throws; the caller then takes back what it prepared. */
  async start(): Promise<void> {
    const { spec, clock, driver, records } = this.#parts;
    await this.#budget.open();
    this.#parts.story.began(this.record.prompt_summary);
    this.#state.move('starting', 'The agent is being started.', 'exact');
    await records.write(this.record);
    // An agent of which nothing is on disk could not be found when this process dies.
    if (records.isFailing) throw cannotBeKept(this.record.task_id);
    this.#state.startTime();
    await driver.start();
    this.#budget.watch();
    this.#owned.add(clock.after(spec.timeout_seconds * 1000, () => this.#onTimeout()));
    // An end that came before there was a process to end.
    if (this.#parts.phase.now.name === 'leaving') await driver.kill();
  }

  /** Answers an open decision. Throws DECISION_NOT_FOUND, DECISION_CLOSED or INVALID_ARGUMENTS. */
  async respond(answer: DecisionAnswer): Promise<TaskRecord> {
    await this.#requests.respond(answer);
    await this.#state.written();
    return this.record;
  }

  /** Sends a follow-up message, or interrupts the running turn, or both. Throws TASK_NOT_RUNNING. */
  async message(message: SentMessage): Promise<TaskRecord> {
    this.#mustRun();
    await this.#turns.messages.take(message);
    await this.#state.written();
    return this.record;
  }

  /** Ends the task; resolves with its final record when every process is gone. The first cause stays. */
  async kill(reason: string): Promise<TaskRecord> {
    this.#state.end({ status: 'killed', reason });
    return this.ended;
  }

  /** Why a call must not run, since the budget is used up; known once the session is ended. */
  refusal(call: ToolCall): Promise<string | undefined> {
    return this.#budget.refusal(call);
  }

  /** Ends the task because of the bridge itself. */
  fail(reason: string): void {
    this.#state.end({ status: 'error', reason });
  }

  /** The session cannot be driven, for a reason found outside of it (its version). */
  refuse(reason: string): void {
    this.#state.end({ status: 'failed', reason });
  }

  setVersion(version: string): void {
    this.#state.update({ cli_version: version });
  }

  /** A person types at the session's terminal. */
  typed(): void {
    this.#requests.typed();
  }

  /** The disk fails, or writes again: reported in the status, the journal and the log. Null when nothing is missing. */
  setStorage(state: 'failing' | 'back', words: string, storage: string | null): void {
    this.#parts.story.storage(state, words);
    this.#state.setStorage(storage);
  }

  /** A person has taken the session over: it is not left at the end of a turn until the result is disposed. */
  hold(): Disposable {
    return this.#turns.hold();
  }

  async screen(): Promise<ScreenText> {
    return this.#parts.driver.screen();
  }

  dispose(): void {
    this.#owned.dispose();
    this.#parts.driver.dispose();
  }

  #onEvent(event: SessionEvent): void {
    const state = this.#state;
    const story = this.#parts.story;
    const failed = (error: unknown): void =>
      this.fail(`The session could not be carried on: ${messageOf(error)}`);
    switch (event.type) {
      case 'spawned':
        state.spawned();
        if (event.pid !== undefined)
          void this.#parts.identify(event.pid).then((agent) => state.update({ agent: agent ?? null }));
        return;
      case 'session':
        state.update({
          session_id: event.sessionId,
          ...(event.source !== 'observed' && { status_source: 'exact' }),
          ...(event.cliVersion === undefined ? {} : { cli_version: event.cliVersion }),
          ...(event.model === undefined ? {} : { model: event.model }),
        });
        return;
      case 'prompt-blocked':
        void this.#turns.blocked(event.reason).catch(failed);
        return;
      case 'turn-started':
        this.#turns.started(event);
        return;
      case 'tool-started':
        this.#troubles.answered('exact');
        story.toolStarted(event);
        state.act(event.summary);
        return;
      case 'tool-finished':
        state.addFiles(event.filesChanged);
        if (event.wakeUp !== undefined) this.#turns.scheduled(event.wakeUp);
        state.actIsOver(event.summary);
        story.toolFinished(event);
        return;
      case 'command-ended':
        story.commandEnded(event);
        return;
      case 'request':
        void this.#requests
          .asked(event.request)
          .catch((error: unknown) => this.fail(`A request could not be checked: ${messageOf(error)}`));
        return;
      case 'request-gone':
        this.#requests.gone(event);
        return;
      case 'turn-ended':
        void this.#turns.ended(event).catch(failed);
        void (event.usage === undefined ? this.#budget.count() : this.#budget.take(event.usage)).catch(
          failed,
        );
        return;
      case 'keys':
        story.pressed(event);
        return;
      case 'said':
        this.#troubles.answered('exact');
        story.said(event.text, event.atMs);
        this.#turns.said(event.text);
        state.act(event.text);
        return;
      case 'printed':
        story.printed(event.lines);
        return;
      case 'notice':
        story.noticed(event.text);
        state.act(event.text);
        return;
      case 'dialog':
        state.setDialog(event.text);
        return;
      case 'retrying':
        this.#troubles.retrying(event);
        return;
      case 'trouble':
        story.gotIntoTrouble(event);
        state.changed({ trouble: { kind: event.kind, since: state.nowText(), resumes_at: null } });
        this.#state.end({
          status: 'failed',
          reason: troubleReason(event.text, event.kind, this.#parts.spec),
        });
        return;
      case 'output':
        state.show({
          output_bytes: state.record.output_bytes + event.bytes,
          ...(this.#showsAnswer ? {} : { last_output: this.#parts.driver.lastOutput(LAST_OUTPUT_CHARS) }),
        });
        return;
      case 'exited':
        // Claude Code tells some of what it has used only when it leaves.
        void this.#budget.count().then(() => this.#exited(event.exit));
        return;
    }
  }

  /** Between turns the last output is the answer of the last turn, not what surrounds it on the screen. */
  get #showsAnswer(): boolean {
    return this.record.final_message !== '' && !this.#parts.phase.turnRuns;
  }

  #exited(exit: ExitStatus): Promise<void> {
    const { phase, driver } = this.#parts;
    const cause = causeOfExit(exit, phase.now, this.record, driver.lastOutput(LAST_OUTPUT_CHARS));
    if (phase.cause === undefined) phase.move({ name: 'leaving', cause });
    this.#requests.withdrawAll('the task ended');
    this.#turns.messages.loseAll();
    return this.#state.finish(cause, exit);
  }

  #onTimeout(): void {
    const { timeout_seconds } = this.#parts.spec;
    const { now } = this.#parts.phase;
    if (now.name === 'idle' && now.why === 'background') {
      this.#state.end(endedWith(now.goesOn ?? '', `at the time limit of ${timeout_seconds} seconds`));
    } else if (
      this.#parts.phase.isIdleFor('message') &&
      !this.#turns.messages.areWaiting &&
      this.#parts.decisions.openIds.length === 0
    ) {
      this.#state.end(
        {
          status: 'completed',
          reason: `Its work was done; the session was kept open until the time limit of ${timeout_seconds} seconds.`,
        },
        'close',
      );
    } else {
      this.#state.end({
        status: 'timeout',
        reason: `The task exceeded its time limit of ${timeout_seconds} seconds.`,
      });
    }
  }

  #mustRun(): void {
    const { task_id, status, reason } = this.record;
    if (this.#parts.phase.isOpen) return;
    throw new BridgeError(
      'TASK_NOT_RUNNING',
      isFinal(status)
        ? `Task ${task_id} is ${status}: ${reason}`
        : `Task ${task_id} is ending: ${this.#parts.phase.cause?.reason ?? 'its work is done.'}`,
      `${goOnHint(this.record)} With keep_open a session waits for messages after each turn.`,
    );
  }
}

function cannotBeKept(taskId: string): BridgeError {
  return new BridgeError(
    'STATE_UNUSABLE',
    `The record of ${taskId} could not be written, so its agent was not started.`,
    'Make room on the disk of the state directory, and check that it is yours and writable.',
  );
}
