// Pure.
import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import type { Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import { hookOutput, requestOf, type PermissionRequestEvent } from '../claude/tool-requests.js';
import type { SessionAnswer, SessionRequest } from '../claude/session.js';
import { isSameUse, toolSummary, type EndedHook } from '../claude/tool-calls.js';
import { DecisionBook, SessionGrants } from '../tasks/decisions/decision-book.js';
import { answerInWords, editsOf, sessionAnswerFor } from '../tasks/decisions/session-answer.js';
import type { TaskStory } from '../tasks/run/task-story.js';
import { IN_ITS_TERMINAL, type TaskRecord } from '../tasks/task.js';
import { BY_FORM, type DecisionAnswer } from '../tasks/task-host.js';
import type { SessionStatus } from './session-status.js';

/** What a hook answers; without fields it leaves everything to the person. */
export type HookAnswer = Readonly<Record<string, unknown>>;

/** Leaves everything to the person. */
export const LEFT: HookAnswer = {};
/** A cancelled call means an answer in the terminal, unless the session ends at that moment. */
const CANCEL_PAUSE_MS = 50;
/** Answers whose tool has not run yet are remembered, so many. */
const MAX_ANSWERED = 40;
const LOOK_INTERVAL_MS = 300;
/** Between two dialogs a session is busy for a moment. */
const SURE_LOOKS = 2;
const REFUSED = 'refused or interrupted in the terminal';
const ALLOWED = 'allowed in the terminal';
const WENT_ON = 'answered in the terminal';
const ASKED_BY = 'a person started this session';

export interface NativeRequestsOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly story: TaskStory;
  /** So long a request waits for an answer before it is left to the person. */
  readonly waitSeconds: number;
  readonly status: Pick<SessionStatus, 'read'>;
  readonly realPath: (path: string) => Promise<string>;
}

/** A request whose dialog stands in the terminal. Without `reply` it is left to the person. */
interface Standing {
  readonly request: SessionRequest;
  readonly event: PermissionRequestEvent;
  reply?: ((answer: HookAnswer) => void) | undefined;
  decisionId?: string | undefined;
}

/** What a session of a person asks. Its dialogs stand in the terminal meanwhile; the first answer, there or here, counts. */
export class NativeRequests implements Disposable {
  readonly #options: NativeRequestsOptions;
  readonly #project: string;
  readonly #onChanged: () => void;
  readonly #decisions: DecisionBook;
  readonly #grants: SessionGrants;
  /** Oldest first. */
  #standing: Standing[] = [];
  /** What was answered here and has not run yet. */
  #answered: { readonly event: PermissionRequestEvent; readonly isAllowed: boolean }[] = [];
  #nextRequest = 1;
  #nextLook: Disposable | undefined;
  /** The session was seen to wait: before that, its status is of the time before the dialog. */
  #hasWaited = false;
  #looks = 0;

  /** `onChanged`: what is asked is different from before. */
  constructor(options: NativeRequestsOptions, project: string, onChanged: () => void) {
    this.#options = options;
    this.#project = project;
    this.#onChanged = onChanged;
    this.#decisions = new DecisionBook(options.clock, options.waitSeconds, (id) => this.#deadline(id));
    this.#grants = new SessionGrants(options.realPath);
  }

  /** The decisions, as a record has them. */
  get recorded(): Pick<TaskRecord, 'decisions' | 'decisions_dropped'> {
    return this.#decisions.recorded;
  }

  /** What is waited for, in words. */
  get waitsFor(): string | undefined {
    const left = this.#standing.find(({ reply }) => reply === undefined);
    if (this.#decisions.question !== undefined) return this.#decisions.question;
    return left && `Waits for an answer to: ${left.request.summary}. ${IN_ITS_TERMINAL}`;
  }

  /** Resolves with what the hook answers. `signal` aborts when Claude Code waits no longer. */
  ask(event: PermissionRequestEvent, signal: AbortSignal): Promise<HookAnswer> {
    const request = requestOf(`native-${this.#nextRequest++}`, event, this.#project);
    return new Promise((resolve) => {
      const standing: Standing = { request, event, reply: resolve };
      this.#stand([...this.#standing, standing]);
      signal.addEventListener('abort', () => this.#cancelled(standing), { once: true });
      this.#open(standing).catch((error: unknown) => {
        this.#options.logger.warn('a request is left to its person', { error: messageOf(error) });
        this.#leave(standing);
      });
    });
  }

  /** Throws DECISION_NOT_FOUND, DECISION_CLOSED or INVALID_ARGUMENTS. */
  async respond(answer: DecisionAnswer): Promise<void> {
    if (await this.#hasGoneOn()) this.wentOn();
    if (answer.by === BY_FORM) this.#addLate(answer);
    const request = this.#decisions.requestOf(answer.decision_id);
    const given = sessionAnswerFor(request, answer);
    const standing = this.#standing.find(({ decisionId }) => decisionId === answer.decision_id);
    this.#close(answer.decision_id, {
      verdict: answer.verdict,
      by: answer.by,
      reason: answerInWords(answer, given),
      edits: editsOf(request, given),
    });
    if (answer.verdict === 'allow_session') await this.#grants.add(request, answer.decision_id);
    if (standing !== undefined) this.#reply(standing, given);
  }

  /** A tool was used. */
  used(event: EndedHook): void {
    const standing = this.#standing.find((one) => isSameUse(one.event, event));
    if (standing !== undefined) this.#settle(standing, ALLOWED);
    // The same may have been allowed once and denied once.
    const uses = this.#answered.filter((one) => isSameUse(one.event, event));
    const answered = uses.find(({ isAllowed }) => isAllowed) ?? uses[0];
    this.#answered = this.#answered.filter((one) => one !== answered);
    if (answered?.isAllowed !== false) return;
    const summary = toolSummary(event.tool_name, event.tool_input, this.#project);
    this.#options.story.noticed(`${summary} was allowed in the terminal before it was denied`);
  }

  /** The session does something else than wait for answers. */
  wentOn(): void {
    for (const standing of this.#standing) this.#settle(standing, WENT_ON);
  }

  turnEnded(): void {
    this.wentOn();
    this.#answered = [];
  }

  /** The record ends: the person answers alone from now on. */
  withdrawAll(): void {
    const { story } = this.#options;
    const standing = this.#standing;
    this.#stand([]);
    for (const { reply } of standing) reply?.(LEFT);
    for (const id of this.#decisions.openIds)
      story.closed(
        this.#decisions.close(id, { verdict: 'withdrawn', by: 'session', reason: 'the task ended' }),
      );
  }

  dispose(): void {
    this.#nextLook?.dispose();
    this.#decisions.dispose();
  }

  async #open(standing: Standing): Promise<void> {
    const { story } = this.#options;
    const { request } = standing;
    const allowedBy = await this.#grants.find(request);
    if (!this.#standing.includes(standing)) return;
    if (allowedBy !== undefined) {
      const why = `allowed-for-session: ${allowedBy} allowed it for the session`;
      story.closed(this.#decisions.record(request, 'allow', why));
      this.#reply(standing, { verdict: 'allow' });
    } else if (this.#decisions.refusal(request) !== undefined) {
      this.#leave(standing);
    } else {
      const decision = this.#decisions.open(request, { why: ASKED_BY, isLeft: true });
      standing.decisionId = decision.decision_id;
      story.asked(decision);
      this.#onChanged();
    }
  }

  #reply(standing: Standing, answer: SessionAnswer): void {
    const isAllowed = answer.verdict !== 'deny';
    this.#answered = [...this.#answered, { event: standing.event, isAllowed }].slice(-MAX_ANSWERED);
    this.#stand(this.#standing.filter((one) => one !== standing));
    standing.reply?.(hookOutput(standing.event, answer));
    this.#onChanged();
  }

  #deadline(decisionId: string): void {
    const { waitSeconds } = this.#options;
    const reason = `No answer came within ${waitSeconds} seconds, so it is left to the person at the terminal.`;
    this.#close(decisionId, { verdict: 'withdrawn', by: 'deadline', reason });
    const standing = this.#standing.find((one) => one.decisionId === decisionId);
    if (standing !== undefined) this.#leave(standing);
  }

  #leave(standing: Standing): void {
    standing.reply?.(LEFT);
    standing.reply = undefined;
    standing.decisionId = undefined;
    this.#onChanged();
  }

  #cancelled(standing: Standing): void {
    this.#options.clock.after(CANCEL_PAUSE_MS, () => this.#settle(standing, REFUSED));
  }

  #addLate({ decision_id, verdict }: DecisionAnswer): void {
    const late = this.#decisions.addLate(decision_id, verdict);
    if (late === undefined) return;
    this.#options.story.noticed(
      `An answer from the chat came too late for ${decision_id} (${late.summary}): ${verdict}`,
    );
    this.#onChanged();
  }

  /** The dialog is gone, by what its person did. */
  #settle(standing: Standing, why: string): void {
    if (!this.#standing.includes(standing)) return;
    this.#stand(this.#standing.filter((one) => one !== standing));
    standing.reply?.(LEFT);
    if (standing.decisionId === undefined) this.#onChanged();
    else this.#close(standing.decisionId, { verdict: 'withdrawn', by: 'terminal', reason: why });
  }

  #stand(standing: Standing[]): void {
    const isFirst = this.#standing.length === 0;
    this.#standing = standing;
    if (standing.length === 0) this.#nextLook?.dispose();
    else if (isFirst) {
      this.#hasWaited = false;
      this.#looks = 0;
      this.#lookSoon();
    }
  }

  /** Looks, while dialogs stand, whether the session still waits: no hook says that a person answered. */
  #lookSoon(): void {
    const look = async (): Promise<void> => {
      this.#looks = (await this.#hasGoneOn()) ? this.#looks + 1 : 0;
      if (this.#standing.length === 0) return;
      if (this.#looks >= SURE_LOOKS) this.wentOn();
      else this.#lookSoon();
    };
    this.#nextLook = this.#options.clock.after(LOOK_INTERVAL_MS, () => void look());
  }

  /** Whether the session has gone on since the dialogs came; false where that is not known. */
  async #hasGoneOn(): Promise<boolean> {
    const status = await this.#options.status.read();
    this.#hasWaited ||= status === 'waiting';
    return this.#hasWaited && status === 'other';
  }

  #close(decisionId: string, closing: Parameters<DecisionBook['close']>[1]): void {
    this.#options.story.closed(this.#decisions.close(decisionId, closing));
    this.#onChanged();
  }
}
