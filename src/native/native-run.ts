// Pure.
import { withinMs } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import { Emitter, type Disposable } from '../base/lifecycle.js';
import { headAndTail, tailChars } from '../base/text.js';
import type { HookOf, KnownHookEvent } from '../claude/hooks/hook-event.js';
import { callIn, outcomeOf, type EndedHook, toolFinished, toolStarted } from '../claude/tool-calls.js';
import { nativeSession, NO_PROMPT } from '../tasks/task-refusals.js';
import { promptSummary } from '../tasks/record/initial-record.js';
import type { RecordWriter } from '../tasks/record/record-writer.js';
import { messageBecame, withMessage } from '../tasks/run/run-messages.js';
import { addedFiles, FLUSH_LIMIT_MS, LAST_OUTPUT_CHARS } from '../tasks/run/run-state.js';
import { FINAL_MESSAGE_CHARS } from '../tasks/run/run-turns.js';
import { TURN_OVER, WAITS_FOR_MESSAGE, type TaskRecord } from '../tasks/task.js';
import type { DecisionAnswer, ScreenText, SentMessage } from '../tasks/task-host.js';
import { LEFT, NativeRequests, type HookAnswer, type NativeRequestsOptions } from './native-requests.js';
import type { SessionInbox } from './session-inbox.js';

/** Why the record of a session ended that goes on. */
export const SWITCHED_OFF = 'Its person ran claude-code-bridge native off; the session goes on.';
const FROM =
  'A client of claude-code-bridge sent this message (message_task); no person typed it at this terminal:';

export interface NativeRunOptions extends NativeRequestsOptions {
  readonly records: RecordWriter;
  /** Writes out log and journal. */
  readonly flush: () => Promise<void>;
  /** False when the person has ended the view of own sessions. */
  readonly isOn: () => boolean;
  /** Left out where messages are refused; without an inbox, an idle session takes none. */
  readonly messages?: { readonly inbox: SessionInbox | undefined } | undefined;
}

/**
 * A session that a person started, known by the hooks of the plugin: its record, log and journal. It is answered and sent messages, and
 * never typed into or ended. `initial` has the id of the session.
 */
export class NativeRun implements Disposable {
  readonly #options: NativeRunOptions;
  readonly #changes = new Emitter<TaskRecord>();
  /** Each record that is on disk now. */
  readonly onDidChange = this.#changes.event;
  readonly #requests: NativeRequests;
  readonly #queue: string[] = [];
  #record: TaskRecord;
  #isInTurn = true;
  #isPrompted = false;
  #end: Promise<TaskRecord> | undefined;

  constructor(options: NativeRunOptions, initial: TaskRecord) {
    this.#options = options;
    this.#record = initial;
    this.#requests = new NativeRequests(options, initial.project_path, () => this.#change());
    options.records.onDidWrite((record) => this.#changes.fire(record));
  }

  /** The record as of now; `elapsed_seconds` is current. */
  get record(): TaskRecord {
    const { started_monotonic_ms: startedMs } = this.#record;
    if (this.#end !== undefined || startedMs === null) return this.#record;
    const elapsedMs = this.#options.clock.monotonicMs() - startedMs;
    return { ...this.#record, elapsed_seconds: Math.floor(elapsedMs / 1000) };
  }

  /** Writes the record, without which no client finds the session. Throws STATE_UNUSABLE. */
  async start(): Promise<void> {
    const { records, story } = this.#options;
    story.began(this.#record.prompt_summary);
    await records.write(this.record);
    if (!records.isFailing) return;
    throw new BridgeError(
      'STATE_UNUSABLE',
      `The record of ${this.#record.task_id} could not be written, so the session is not seen.`,
      'Make room on the disk of the state directory, and check that it is yours and writable.',
    );
  }

  /** What a hook answers; only that of a request may take long. `signal` aborts when Claude Code waits no longer. */
  async hook(event: KnownHookEvent, signal: AbortSignal): Promise<HookAnswer> {
    if (this.#end !== undefined) return LEFT;
    this.#isInTurn = true;
    const answer = await this.#answerOf(event, signal);
    // What was answered before the view was ended comes to nothing.
    return this.#options.isOn() && answer !== undefined ? answer : LEFT;
  }

  /** Throws NATIVE_SESSION, DECISION_NOT_FOUND, DECISION_CLOSED or INVALID_ARGUMENTS. */
  async respond(answer: DecisionAnswer): Promise<TaskRecord> {
    this.#requireOn();
    await this.#requests.respond(answer);
    return this.#written();
  }

  /** Sends a message, or queues it until the turn is over. Throws NATIVE_SESSION, and INVALID_ARGUMENTS when too many wait. */
  async message({ text, interrupt }: SentMessage): Promise<TaskRecord> {
    this.#requireOn();
    const { task_id: id } = this.#record;
    const { messages } = this.#options;
    if (interrupt === true) throw nativeSession(id, 'interrupted');
    if (messages === undefined) throw nativeSession(id, 'sent a message');
    if (!this.#isInTurn && messages.inbox === undefined)
      throw new BridgeError(
        'NATIVE_SESSION',
        `${id} is idle, and its Claude Code has no messaging socket that the bridge may use (2.1.330 and newer have one), so no message reaches it now.`,
        'Send it while a turn runs: it is delivered at the end of that turn. Or its person types it.',
      );
    if (text !== undefined) {
      this.#change({ messages: withMessage(this.#record, this.#queue.length, text) });
      this.#queue.push(text);
      if (!this.#isInTurn) await this.#sendNext();
    }
    return this.#written();
  }

  /** Lets the session go where its person has ended the view. Throws NATIVE_SESSION in any other case. */
  async kill(): Promise<TaskRecord> {
    if (this.#options.isOn()) throw nativeSession(this.#record.task_id, 'ended');
    return this.end(SWITCHED_OFF);
  }

  screen(): Promise<ScreenText> {
    return Promise.reject(nativeSession(this.#record.task_id, 'shown as a screen'));
  }

  typed(): void {
    // No terminal of the session is shown.
  }

  /** Ends the record, for the first reason given; the session itself runs on without the bridge. */
  end(reason: string): Promise<TaskRecord> {
    return (this.#end ??= this.#ended(reason));
  }

  setAgent(agent: TaskRecord['agent']): void {
    this.#change({ agent });
  }

  /** The disk fails, or writes again. Null when nothing is missing. */
  setStorage(state: 'failing' | 'back', words: string, storage: string | null): void {
    this.#options.story.storage(state, words);
    this.#write({ ...this.record, storage });
  }

  dispose(): void {
    this.#requests.dispose();
    this.#changes.dispose();
  }

  async #ended(reason: string): Promise<TaskRecord> {
    const { story, clock, flush, records } = this.#options;
    const { record } = this;
    story.ending('completed', reason);
    this.#requests.withdrawAll();
    const messages = record.messages?.map((one) =>
      one.state === 'waiting' ? { ...one, state: 'lost' as const } : one,
    );
    for (const text of this.#queue)
      story.noticed(`A message was not delivered: the session ended first: ${text}`);
    story.ended('completed', reason, { code: 0 });
    this.#record = {
      ...record,
      ...this.#requests.recorded,
      ...(messages !== undefined && { messages }),
      status: 'completed',
      reason,
      ended_at: new Date(clock.now()).toISOString(),
      exit_code: 0,
      activity: '',
      change_seq: record.change_seq + 1,
    };
    await withinMs(clock, FLUSH_LIMIT_MS, flush().catch(this.#failed));
    await records.write(this.#record);
    return this.#record;
  }

  /** Undefined leaves everything to the person. */
  async #answerOf(event: KnownHookEvent, signal: AbortSignal): Promise<HookAnswer | undefined> {
    switch (event.hook_event_name) {
      case 'UserPromptSubmit':
        return this.#prompted(event.prompt);
      case 'PermissionRequest':
        return this.#requests.ask(event, signal);
      case 'PostToolUse':
      case 'PostToolUseFailure':
        return this.#used(event);
      case 'Stop':
        return this.#stopped(event);
      case 'StopFailure':
        this.#options.story.noticed(`The turn failed: ${event.error}`);
        return this.#turnEnded(event.last_assistant_message ?? '');
      case 'PreToolUse':
      case 'Notification':
      case 'SessionEnd':
      case 'InstructionsLoaded':
      case 'SubagentStart':
      case 'Elicitation':
        return undefined;
    }
  }

  #prompted(prompt: string): undefined {
    const { story } = this.#options;
    const { prompt_summary: known } = this.#record;
    const summary = promptSummary(prompt);
    this.#requests.wentOn();
    // A message that was sent here is in the log already, and so is the prompt that the record began with.
    if (!prompt.includes(FROM)) {
      if (this.#isPrompted || known !== summary) story.prompted(prompt);
      if (known === NO_PROMPT) this.#change({ prompt_summary: summary });
      this.#isPrompted = true;
    }
    story.turnStarted({ type: 'turn-started', source: 'exact', prompt });
    this.#change({ activity: 'Working', final_message: '' });
  }

  #used(event: EndedHook): undefined {
    const { story } = this.#options;
    const { project_path: project, files_changed: known } = this.#record;
    this.#requests.used(event);
    story.toolStarted(toolStarted(callIn(event), project));
    const finished = toolFinished(callIn(event), outcomeOf(event), project, event.cwd);
    story.toolFinished(finished);
    this.#change({ activity: 'Working', files_changed: addedFiles(known, finished.filesChanged) });
  }

  /** The end of a turn, unless a message that waits for it continues the turn: Claude Code bounds how often that may be. */
  #stopped(event: HookOf<'Stop'>): HookAnswer | undefined {
    const said = event.last_assistant_message ?? '';
    if (said !== '') this.#options.story.said(said);
    this.#turnEnded(said);
    const text = event.stop_hook_active === false ? this.#queue.shift() : undefined;
    if (text === undefined) {
      void this.#sendNext();
      return undefined;
    }
    this.#delivered(text);
    return { decision: 'block', reason: worded(text) };
  }

  #turnEnded(message: string): undefined {
    this.#requests.turnEnded();
    this.#isInTurn = false;
    this.#options.story.turnEnded({ type: 'turn-ended', source: 'exact', message, backgroundTasks: 0 });
    this.#change({
      turns: this.#record.turns + 1,
      activity: 'Waits for its person',
      ...(message !== '' && {
        final_message: headAndTail(message, FINAL_MESSAGE_CHARS),
        last_output: tailChars(message, LAST_OUTPUT_CHARS),
      }),
    });
  }

  /** Sends the oldest message to a session between turns. One that it does not take waits for the end of the next turn. Never rejects. */
  async #sendNext(): Promise<void> {
    const inbox = this.#options.messages?.inbox;
    const text = inbox === undefined ? undefined : this.#queue.shift();
    if (inbox === undefined || text === undefined) return;
    try {
      await inbox.send({ text: worded(text), sessionId: this.#record.session_id ?? '' });
      this.#delivered(text);
    } catch (error) {
      this.#options.logger.warn('A message could not be sent to this session', { error: messageOf(error) });
      this.#queue.unshift(text);
    }
  }

  #delivered(text: string): void {
    this.#isInTurn = true;
    this.#options.story.messageSent(text);
    const messages = messageBecame(this.#record, text, 'delivered');
    this.#change({ messages, final_message: '', last_output: '', activity: 'Working' });
  }

  /** A change of the record, with the status that follows from what the session asks and does. */
  #change(fields: Partial<TaskRecord> = {}): void {
    if (this.#end !== undefined) return;
    const { status: before, change_seq } = this.#record;
    const asked = this.#requests.waitsFor;
    const isRunning = asked === undefined && this.#isInTurn;
    const status = isRunning ? 'running' : 'waiting';
    const reason = isRunning ? 'The session runs.' : (asked ?? `${TURN_OVER}${WAITS_FOR_MESSAGE}`);
    if (status !== before) this.#options.story.statusChanged(before, status, reason, 'exact');
    const decided = this.#requests.recorded;
    this.#write({ ...this.record, ...fields, ...decided, status, reason, change_seq: change_seq + 1 });
  }

  #write(record: TaskRecord): void {
    this.#record = record;
    this.#options.records.write(record).catch(this.#failed);
  }

  async #written(): Promise<TaskRecord> {
    await this.#options.records.write(this.record);
    return this.record;
  }

  readonly #failed = (error: unknown): void =>
    this.#options.logger.error('the files of the session could not be written', { error: messageOf(error) });

  /** Throws NATIVE_SESSION when the person has ended the view of own sessions. */
  #requireOn(): void {
    if (this.#options.isOn()) return;
    throw new BridgeError(
      'NATIVE_SESSION',
      `The view of sessions of people was ended with claude-code-bridge native off, so ${this.#record.task_id} is not answered.`,
      'Answer it in its terminal; claude-code-bridge native on begins the view again.',
    );
  }
}

/** A message as the model reads it. */
function worded(text: string): string {
  return `${FROM}\n\n${text}`;
}
