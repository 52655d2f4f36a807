import type { Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import type { Disposable } from '../base/lifecycle.js';
import { headBytes, oneLine } from '../base/text.js';
import type { SessionRequest } from '../claude/session.js';
import type { Decision } from './task.js';

/** A record keeps this many decisions; the journal has all of them. */
const MAX_KEPT = 100;
/** A tool's input may be a whole file; a decision shows its beginning. */
const MAX_FIELD_BYTES = 2_000;
const MAX_FIELDS = 20;
const MAX_WHY_CHARS = 300;

interface OpenDecision {
  readonly request: SessionRequest;
  readonly deadline: Disposable;
}

/** The decisions of one task: opened by requests, closed once. */
export class DecisionBook implements Disposable {
  readonly #clock: Clock;
  readonly #timeoutSeconds: number;
  readonly #onDeadline: (decisionId: string) => void;
  readonly #open = new Map<string, OpenDecision>();
  #decisions: Decision[] = [];
  #next = 1;

  constructor(clock: Clock, timeoutSeconds: number, onDeadline: (decisionId: string) => void) {
    this.#clock = clock;
    this.#timeoutSeconds = timeoutSeconds;
    this.#onDeadline = onDeadline;
  }

  /** Open ones always, closed ones as far as they are kept; oldest first. */
  get all(): Decision[] {
    return this.#decisions;
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** A decision that somebody has to take, with a deadline; `why` says which rule asks, and for what reason. */
  open(request: SessionRequest, why?: string): Decision {
    const decision = this.#add(request, why);
    this.#open.set(decision.decision_id, {
      request,
      deadline: this.#clock.after(this.#timeoutSeconds * 1000, () => this.#onDeadline(decision.decision_id)),
    });
    return decision;
  }

  /** A decision that a rule took at once. */
  record(request: SessionRequest, verdict: 'allow' | 'deny', reason: string): Decision {
    const decision = this.#add(request);
    return this.#replace(decision, verdict, 'rule', reason);
  }

  /** The request behind an open decision. Throws DECISION_NOT_FOUND or DECISION_CLOSED. */
  requestOf(decisionId: string): SessionRequest {
    const open = this.#open.get(decisionId);
    if (open !== undefined) return open.request;
    const closed = this.#decisions.find((decision) => decision.decision_id === decisionId);
    if (closed !== undefined) {
      throw new BridgeError(
        'DECISION_CLOSED',
        `Decision ${decisionId} (${closed.summary}) is closed: ${closed.verdict ?? 'withdrawn'} by ${closed.answered_by ?? 'nobody'} at ${closed.closed_at ?? 'an unknown time'}.`,
        'Nothing was changed. get_task_status lists the decisions that are still open.',
      );
    }
    const openIds = [...this.#open.keys()];
    throw new BridgeError(
      'DECISION_NOT_FOUND',
      `The task has no decision '${oneLine(decisionId, 60)}'. Open decisions: ${openIds.length === 0 ? 'none' : openIds.join(', ')}.`,
      'Take the decision_id from get_task_status or wait_for_task.',
    );
  }

  /** Closes an open decision; the first answer wins, so a closed one throws as requestOf does. */
  close(
    decisionId: string,
    verdict: NonNullable<Decision['verdict']>,
    by: string,
    reason: string | null,
  ): Decision {
    this.requestOf(decisionId);
    this.#open.get(decisionId)?.deadline.dispose();
    this.#open.delete(decisionId);
    const decision = this.#decisions.find((candidate) => candidate.decision_id === decisionId);
    if (decision === undefined) throw new Error(`open decision ${decisionId} is not kept`);
    const closed = this.#replace(decision, verdict, by, reason);
    this.#forgetOld();
    return closed;
  }

  /** The open decision of a session's request, if any. */
  idOfRequest(requestId: string): string | undefined {
    for (const [decisionId, { request }] of this.#open)
      if (request.requestId === requestId) return decisionId;
    return undefined;
  }

  get openIds(): string[] {
    return [...this.#open.keys()];
  }

  dispose(): void {
    for (const { deadline } of this.#open.values()) deadline.dispose();
    this.#open.clear();
  }

  #add(request: SessionRequest, why?: string): Decision {
    const nowMs = this.#clock.now();
    const input = boundedInput(request.input);
    const isCut = JSON.stringify(input) !== JSON.stringify(request.input);
    const decision: Decision = {
      decision_id: `dec_${this.#next++}`,
      kind: request.kind,
      tool: request.tool,
      input,
      ...(isCut && { input_is_cut: true }),
      summary: request.summary,
      options: [...request.options],
      ...(request.questions === undefined
        ? {}
        : {
            questions: request.questions.map((question) => ({ ...question, options: [...question.options] })),
          }),
      ...(why !== undefined && { why: oneLine(why, MAX_WHY_CHARS) }),
      asked_at: new Date(nowMs).toISOString(),
      expires_at: new Date(nowMs + this.#timeoutSeconds * 1000).toISOString(),
      closed_at: null,
      verdict: null,
      answered_by: null,
      reason: null,
    };
    this.#decisions = [...this.#decisions, decision];
    this.#forgetOld();
    return decision;
  }

  #replace(
    decision: Decision,
    verdict: NonNullable<Decision['verdict']>,
    by: string,
    reason: string | null,
  ): Decision {
    const closed: Decision = {
      ...decision,
      verdict,
      answered_by: by,
      reason,
      closed_at: new Date(this.#clock.now()).toISOString(),
    };
    this.#decisions = this.#decisions.map((candidate) => (candidate === decision ? closed : candidate));
    return closed;
  }

  #forgetOld(): void {
    while (this.#decisions.length > MAX_KEPT) {
      const oldest = this.#decisions.findIndex((decision) => decision.closed_at !== null);
      if (oldest === -1) return;
      this.#decisions = this.#decisions.filter((_, index) => index !== oldest);
    }
  }
}

function boundedInput(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input)
      .slice(0, MAX_FIELDS)
      .map(([key, value]) => [key, boundedField(value)]),
  );
}

function boundedField(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text === undefined || text.length <= MAX_FIELD_BYTES) return value;
  const head = headBytes(text, MAX_FIELD_BYTES);
  return `${head}… (${text.length - head.length} more characters)`;
}
