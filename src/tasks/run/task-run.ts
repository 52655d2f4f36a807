// Pure.
import { BridgeError } from '../../base/errors.js';
import { type Event, DisposableStore, type Disposable } from '../../base/lifecycle.js';
import type { ExitStatus, SessionEvent, ToolCall } from '../../claude/session.js';
import { goOnStep } from '../polling-hint.js';
import { isFinal, type TaskRecord } from '../task.js';
import type { DecisionAnswer, ScreenText, SentMessage } from '../task-host.js';
import { RunBudget } from './run-budget.js';
import { RunRequests } from './run-requests.js';
import { addedFiles, boundedWords, LAST_OUTPUT_CHARS, RunState, type TaskRunParts } from './run-state.js';
import { RunTurns } from './run-turns.js';
import { causeOfExit, endedWith } from './session-phase.js';

/** Of the requests in a record: a caller repeats its last ones. */
const MAX_REQUESTS = 50;

/**
 * One run of one task: the only writer of its record while it lives. Session events and callers' requests come in, the
 * record, journal and log go out. The record says what ended it first.
 */
export class TaskRun implements Disposable {
  readonly #state: RunState;
  readonly #owned = new DisposableStore();
  readonly #requests: RunRequests;
  readonly #turns: RunTurns;
  readonly #budget: RunBudget;
  /** What is being done for requests with an id. */
  readonly #doing = new Map<string, Promise<void>>();
  /** Each record that is on disk now: a listener can read it there. */
  readonly onDidChange: Event<TaskRecord>;
  readonly ended: Promise<TaskRecord>;
  /** Reports in the status, the journal and the log how the disk is. */
  readonly setStorage: RunState['setStorage'];
  /** A person has taken the session over: it is not left at the end of a turn until the result is disposed. */
  readonly hold: () => Disposable;

  constructor(parts: TaskRunParts, initial: TaskRecord) {
    const onDeadline = (decisionId: string): void => void this.#requests.deadline(decisionId);
    const state = this.#owned.add(new RunState(parts, initial, onDeadline));
    this.#state = state;
    this.#requests = new RunRequests(state);
    this.#turns = new RunTurns(state, this.#requests);
    this.#budget = this.#owned.add(new RunBudget(state));
    this.onDidChange = state.onDidChange;
    this.ended = state.ended;
    this.setStorage = state.setStorage.bind(state);
    this.hold = () => this.#turns.hold();
    this.#owned.add(parts.driver.onEvent((event) => this.#onEvent(event)));
  }

  /** The record as of now; `elapsed_seconds` is current. */
  get record(): TaskRecord {
    return this.#state.record;
  }

  /** Starts the agent. Throws what the driver throws; the caller then takes back what it prepared. */
  async start(): Promise<void> {
    const { spec, clock, driver } = this.#state.parts;
    await this.#budget.open();
    await this.#state.starting();
    await driver.start();
    this.#budget.watch();
    this.#owned.add(clock.after(spec.timeout_seconds * 1000, () => this.#onTimeout()));
    // An end that came before there was a process to end.
    if (!this.#state.isOpen) await driver.kill();
    // What the caller is answered is what every reader finds from now on.
    await this.#state.written();
  }

  /** Answers an open decision. Throws DECISION_NOT_FOUND, DECISION_CLOSED or INVALID_ARGUMENTS. */
  async respond(answer: DecisionAnswer, request?: string): Promise<TaskRecord> {
    // Also a refusal: what closed the decision is what its caller reads next.
    await this.#once(request, () => this.#requests.respond(answer)).finally(() => this.#state.written());
    return this.#state.record;
  }

  /** Sends a follow-up message, or interrupts the running turn, or both. Throws TASK_NOT_RUNNING. */
  async message(message: SentMessage, request?: string): Promise<TaskRecord> {
    this.#mustRun();
    await this.#once(request, () => this.#turns.messages.take(message));
    return this.#state.written();
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
    this.#state.show({ cli_version: boundedWords(version) });
  }

  /** A person types at the session's terminal. */
  typed(): void {
    this.#requests.typed();
  }

  async screen(): Promise<ScreenText> {
    return this.#state.parts.driver.screen();
  }

  dispose(): void {
    this.#owned.dispose();
    this.#state.parts.driver.dispose();
  }

  /** The record names what is done from its beginning on, so that it is known also when this process dies; not what was refused. */
  #once(request: string | undefined, act: () => Promise<void>): Promise<void> {
    if (request === undefined) return act();
    const state = this.#state;
    const { requests = [] } = state.record;
    const running = this.#doing.get(request);
    if (running !== undefined || requests.includes(request)) return running ?? Promise.resolve();
    state.changed({ requests: [...requests, request].slice(-MAX_REQUESTS) });
    const doing = act()
      .catch((error: unknown) => {
        state.changed({ requests: state.record.requests?.filter((one) => one !== request) });
        throw error;
      })
      .finally(() => this.#doing.delete(request));
    this.#doing.set(request, doing);
    return doing;
  }

  #onEvent(event: SessionEvent): void {
    const state = this.#state;
    switch (event.type) {
      case 'spawned':
        state.spawned();
        if (event.pid !== undefined)
          void state.parts.identify(event.pid).then((agent) => state.show({ agent: agent ?? null }));
        return;
      case 'session':
        return this.#named(event);
      case 'request':
        return state.orFail('A request could not be checked', this.#requests.asked(event.request));
      case 'request-gone':
        return this.#requests.gone(event);
      case 'dialog':
        return state.setDialog(event.text);
      case 'turn-started':
        return this.#turns.started(event);
      case 'prompt-blocked':
        return state.orFail('The session could not be carried on', this.#turns.blocked(event.reason));
      case 'turn-ended':
        state.orFail('The session could not be carried on', this.#turns.ended(event));
        return state.orFail('What was used could not be counted', this.#budget.count(event.usage));
      case 'said':
        return this.#turns.said(event);
      case 'retrying':
        return this.#turns.troubles.retrying(event);
      case 'trouble':
        return this.#turns.troubles.cannotGoOn(event);
      case 'output':
        return this.#printed(event.bytes);
      case 'exited':
        // Claude Code tells some of what it has used only when it leaves.
        void this.#budget.count().then(() => this.#exited(event.exit));
        return;
      default:
        return this.#onWork(event);
    }
  }

  /** What the session does. */
  #onWork(
    event: Extract<
      SessionEvent,
      { type: 'tool-started' | 'tool-finished' | 'command-ended' | 'keys' | 'printed' | 'notice' }
    >,
  ): void {
    const { story, record, parts } = this.#state;
    switch (event.type) {
      case 'tool-started':
        this.#turns.troubles.answered();
        story.toolStarted(event);
        return this.#state.act(event.summary);
      case 'tool-finished':
        this.#state.show({ files_changed: addedFiles(record.files_changed, event.filesChanged) });
        if (event.wakeUp !== undefined) this.#turns.scheduled(event.wakeUp);
        this.#state.act('Working');
        return story.toolFinished(event);
      case 'command-ended':
        return story.commandEnded(event);
      case 'keys':
        // Keys of the bridge; those of a person are `typed`.
        return story.tell('keys', { by: 'bridge', keys: event.keys, why: event.why });
      case 'printed':
        return parts.log.output(event.lines);
      case 'notice':
        story.noticed(event.text);
        return this.#state.act(event.text);
    }
  }

  #named({ sessionId, source, cliVersion, model }: Extract<SessionEvent, { type: 'session' }>): void {
    const state = this.#state;
    // At once: by it the transcript is found, should this keeper be killed.
    if (sessionId !== state.record.session_id) state.changed({ session_id: boundedWords(sessionId) });
    state.show({
      ...(source !== 'observed' && { status_source: 'exact' }),
      ...(cliVersion !== undefined && { cli_version: boundedWords(cliVersion) }),
      ...(model !== undefined && { model: boundedWords(model) }),
    });
  }

  /** Between turns the last output is the answer of the last turn, not what surrounds it on the screen. */
  #printed(bytes: number): void {
    const { phase, record, parts } = this.#state;
    const showsAnswer = record.final_message !== '' && phase.at !== 'turn';
    this.#state.show({
      output_bytes: record.output_bytes + bytes,
      ...(!showsAnswer && { last_output: parts.driver.lastOutput(LAST_OUTPUT_CHARS) }),
    });
  }

  #exited(exit: ExitStatus): Promise<void> {
    const { phase, record, parts } = this.#state;
    const cause = causeOfExit(exit, phase, record, parts.driver.lastOutput(LAST_OUTPUT_CHARS));
    if (phase.cause === undefined) this.#state.enter({ at: 'leaving', cause });
    this.#requests.withdrawAll('the task ended');
    this.#turns.messages.loseAll();
    return this.#state.finish(cause, exit);
  }

  #onTimeout(): void {
    const { phase, decisions, parts } = this.#state;
    const limit = `time limit of ${parts.spec.timeout_seconds} seconds`;
    const isIdle = !this.#turns.messages.areWaiting && decisions.openIds.length === 0;
    if (phase.at === 'background') {
      this.#state.end(endedWith(phase.words ?? '', `at the ${limit}`));
    } else if (phase.at === 'message' && isIdle) {
      const reason = `Its work was done; the session was kept open until the ${limit}.`;
      this.#state.end({ status: 'completed', reason }, 'close');
    } else {
      this.#state.end({ status: 'timeout', reason: `The task exceeded its ${limit}.` });
    }
  }

  #mustRun(): void {
    const { record, isOpen, phase } = this.#state;
    const { task_id, status, reason } = record;
    if (isOpen) return;
    throw new BridgeError(
      'TASK_NOT_RUNNING',
      isFinal(status)
        ? `Task ${task_id} is ${status}: ${reason}`
        : `Task ${task_id} is ending: ${phase.cause?.reason ?? 'its work is done.'}`,
      [goOnStep(record), 'A session with keep_open waits for messages after each turn.'],
    );
  }
}
