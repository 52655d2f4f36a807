// Pure.
import type { Clock } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import { headBytes, oneLine } from '../../base/text.js';
import type { SessionRequest } from '../../claude/session.js';
import type { Decision, DecisionEdit, TaskRecord } from '../task.js';

/** A session asks a few things at a time; one that leaves so many open floods. */
const MAX_OPEN = 50;
/** A record keeps this many decisions, and about this many bytes of them; the journal has all of them. */
const MAX_KEPT = 100;
const MAX_KEPT_BYTES = 200_000;
/** Of open decisions alone: what is beyond it is not opened. */
const MAX_OPEN_BYTES = 150_000;
/** Questions and options are shown whole or not at all: an answer names one of them. */
const MAX_QUESTION_BYTES = 8_000;
/** The person who answers must see the request: so much of an open decision is stored. What is cut cannot be allowed. */
const MAX_OPEN_INPUT_BYTES = 16_000;
/** A tool's input may be a whole file; of a closed decision its beginning is stored. */
const MAX_CLOSED_INPUT_BYTES = 8_000;
const MAX_FIELDS = 20;
/** Around a text as JSON. */
const QUOTES = 2;
const MAX_TOOL_CHARS = 200;
/** 200 characters of three bytes each, as summaries of tool calls are. */
const MAX_SUMMARY_BYTES = 600;
const MAX_WHY_CHARS = 300;
const MAX_REASON_BYTES = 2_000;
/** A person answers a form once; a client that repeats itself fills nothing. */
const MAX_LATE = 5;
type LateVerdict = NonNullable<Decision['late']>[number];

/** Which rule asks. */
export interface AskedBy {
  readonly why?: string | undefined;
  /** No answer leaves it to the person at the terminal. */
  readonly isLeft?: boolean;
}

/** Who closes a decision, and how. */
export interface Closing {
  readonly verdict: NonNullable<Decision['verdict']>;
  readonly by: string;
  readonly reason: string | null;
  readonly edits?: readonly DecisionEdit[] | undefined;
}

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
  #dropped = 0;
  #next = 1;

  constructor(clock: Clock, timeoutSeconds: number, onDeadline: (decisionId: string) => void) {
    this.#clock = clock;
    this.#timeoutSeconds = timeoutSeconds;
    this.#onDeadline = onDeadline;
  }

  /** Open ones always, closed ones as far as they are stored; oldest first. */
  get all(): Decision[] {
    return this.#decisions;
  }

  /** As a record has them. */
  get recorded(): Pick<TaskRecord, 'decisions' | 'decisions_dropped'> {
    return { decisions: this.all, ...(this.#dropped > 0 && { decisions_dropped: this.#dropped }) };
  }

  /** What is waited for, in words; undefined while none is open. */
  get question(): string | undefined {
    const [first, ...more] = this.#decisions.filter(({ closed_at }) => closed_at === null);
    if (first === undefined) return undefined;
    const others = more.length > 0 ? ` (and ${more.length} more)` : '';
    return `Waits for an answer to: ${first.summary}${others}`;
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** Why a request cannot be opened as a decision, in words for the agent; undefined when it can. */
  refusal(request: SessionRequest): string | undefined {
    if (this.#open.size >= MAX_OPEN)
      return `${MAX_OPEN} requests of this session wait for an answer already, so this one was denied without asking. Wait until some of them are answered, then ask again.`;
    if (jsonBytes([request.questions ?? [], request.options]) > MAX_QUESTION_BYTES)
      return `The question and its options are longer than ${MAX_QUESTION_BYTES} bytes, so it was denied without asking. Ask in fewer words.`;
    if (jsonBytes(this.#decisions.filter(({ closed_at }) => closed_at === null)) > MAX_OPEN_BYTES)
      return 'The requests of this session that wait for an answer are too long together, so this one was denied without asking. Wait until some of them are answered, then ask again.';
    return undefined;
  }

  /** A decision that somebody has to take, with a deadline; `asked` says which rule asks, and for what reason. */
  open(request: SessionRequest, asked: AskedBy = {}): Decision {
    const decision = this.#add(request, MAX_OPEN_INPUT_BYTES, asked);
    this.#open.set(decision.decision_id, {
      request,
      deadline: this.#clock.after(this.#timeoutSeconds * 1000, () => this.#onDeadline(decision.decision_id)),
    });
    return decision;
  }

  /** A decision that a rule took at once. */
  record(request: SessionRequest, verdict: 'allow' | 'deny', reason: string): Decision {
    const decision = this.#add(request, MAX_CLOSED_INPUT_BYTES);
    return this.#replace(decision, { verdict, by: 'rule', reason });
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
        'Nothing was changed. The status of the task lists the decisions that are still open.',
      );
    }
    const openIds = [...this.#open.keys()];
    throw new BridgeError(
      'DECISION_NOT_FOUND',
      `The task has no decision '${oneLine(decisionId, 60)}'. Open decisions: ${openIds.length === 0 ? 'none' : openIds.join(', ')}.`,
      'Take the decision_id from the status of the task.',
    );
  }

  /** Adds an answer to a closed decision that it came too late for; undefined where that is not stored any more. */
  addLate(decisionId: string, verdict: LateVerdict): Decision | undefined {
    const closed = this.#decisions.find(
      ({ decision_id, closed_at }) => decision_id === decisionId && closed_at !== null,
    );
    if (closed === undefined || (closed.late ?? []).length >= MAX_LATE) return undefined;
    return this.#put(closed, { ...closed, late: [...(closed.late ?? []), verdict] });
  }

  /** Closes an open decision; the first answer wins, so a closed one throws as requestOf does. */
  close(decisionId: string, closing: Closing): Decision {
    this.requestOf(decisionId);
    this.#open.get(decisionId)?.deadline.dispose();
    this.#open.delete(decisionId);
    const decision = this.#decisions.find((candidate) => candidate.decision_id === decisionId);
    if (decision === undefined) throw new Error(`open decision ${decisionId} is not stored`);
    const closed = this.#replace(decision, closing);
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

  #add(request: SessionRequest, inputBytes: number, { why, isLeft = false }: AskedBy = {}): Decision {
    const nowMs = this.#clock.now();
    const input = boundedInput(request.input, inputBytes);
    const decision: Decision = {
      decision_id: `dec_${this.#next++}`,
      kind: request.kind,
      tool: oneLine(request.tool, MAX_TOOL_CHARS),
      input,
      ...(input !== request.input && { input_is_cut: true }),
      summary: headBytes(request.summary, MAX_SUMMARY_BYTES),
      options: [...request.options],
      ...(request.questions === undefined
        ? {}
        : {
            questions: request.questions.map((question) => ({ ...question, options: [...question.options] })),
          }),
      ...(why !== undefined && { why: oneLine(why, MAX_WHY_CHARS) }),
      ...(request.kind === 'permission' && request.source === 'exact' && { can_edit: true }),
      ...(isLeft && { is_left: true }),
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

  #replace(decision: Decision, { verdict, by, reason, edits = [] }: Closing): Decision {
    const input = boundedInput(decision.input, MAX_CLOSED_INPUT_BYTES);
    return this.#put(decision, {
      ...decision,
      input,
      ...(input !== decision.input && { input_is_cut: true }),
      verdict,
      answered_by: by,
      reason: reason === null ? null : headBytes(reason, MAX_REASON_BYTES),
      ...(edits.length > 0 && { edits: [...edits] }),
      closed_at: new Date(this.#clock.now()).toISOString(),
    });
  }

  #put(before: Decision, after: Decision): Decision {
    this.#decisions = this.#decisions.map((one) => (one === before ? after : one));
    return after;
  }

  #forgetOld(): void {
    while (this.#decisions.length > MAX_KEPT || jsonBytes(this.#decisions) > MAX_KEPT_BYTES) {
      const oldest = this.#decisions.find((decision) => decision.closed_at !== null);
      if (oldest === undefined) return;
      this.#decisions = this.#decisions.filter((decision) => decision !== oldest);
      this.#dropped++;
    }
  }
}

/** The input itself, or the beginnings of its first fields, all together about `maxBytes` as JSON. */
function boundedInput(input: Record<string, unknown>, maxBytes: number): Record<string, unknown> {
  if (jsonBytes(input) <= maxBytes) return input;
  const fields = Object.entries(input).slice(0, MAX_FIELDS);
  const share = Math.floor(maxBytes / fields.length);
  return Object.fromEntries(
    fields.map(([name, value]) => [oneLine(name, MAX_TOOL_CHARS), bounded(value, share)]),
  );
}

function bounded(value: unknown, maxBytes: number): unknown {
  if (value === undefined || jsonBytes(value) <= maxBytes) return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  let head = headBytes(text, maxBytes);
  // What becomes escapes is longer as JSON.
  while (head !== '' && jsonBytes(head) > maxBytes + QUOTES)
    head = headBytes(head, Math.floor(head.length / 2));
  return `${head}… (${text.length - head.length} more characters)`;
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
