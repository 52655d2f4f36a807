// Pure: what a session asked, and what was allowed for all of it.
import { resolve } from 'node:path';
import { addressOf, commandOf, pathsOf, toolRow } from '../../approvals/tool-table.js';
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
/** A tool's input may be a whole file. The person who answers must see the request: what is cut cannot be allowed. */
const MAX_INPUT_BYTES = 16_000;
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
/** Each comes from one answer; so many cannot be answers of people any more. */
const MAX_GRANTS = 500;

/** Which rule asks. */
export interface AskedBy {
  readonly why?: string | undefined;
  /** No answer leaves it to the person at the terminal. */
  readonly isLeft?: boolean;
  /** The caller cannot allow it. */
  readonly isForPerson?: boolean;
}

/** Who closes a decision, and how. */
export interface Closing {
  readonly verdict: NonNullable<Decision['verdict']>;
  readonly by: string;
  readonly reason: string | null;
  readonly edits?: readonly DecisionEdit[] | undefined;
}

/** The decisions of one task: opened by requests, closed once. */
export class DecisionBook implements Disposable {
  readonly #clock: Clock;
  readonly #timeoutSeconds: number;
  readonly #onDeadline: (decisionId: string) => void;
  /** By their ids, oldest first: open ones always, closed ones as far as they are stored. */
  readonly #decisions = new Map<string, Decision>();
  readonly #open = new Map<string, { readonly request: SessionRequest; readonly deadline: Disposable }>();
  #dropped = 0;
  #next = 1;

  constructor(clock: Clock, timeoutSeconds: number, onDeadline: (decisionId: string) => void) {
    this.#clock = clock;
    this.#timeoutSeconds = timeoutSeconds;
    this.#onDeadline = onDeadline;
  }

  /** Oldest first. */
  get all(): Decision[] {
    return [...this.#decisions.values()];
  }

  /** As a record has them. */
  get recorded(): Pick<TaskRecord, 'decisions' | 'decisions_dropped'> {
    return { decisions: this.all, ...(this.#dropped > 0 && { decisions_dropped: this.#dropped }) };
  }

  /** What is waited for, in words; undefined while none is open. */
  get question(): string | undefined {
    const [first, ...more] = this.#openOnes();
    if (first === undefined) return undefined;
    const others = more.length > 0 ? ` (and ${more.length} more)` : '';
    return `Waits for an answer to: ${first.summary}${others}`;
  }

  get openIds(): string[] {
    return [...this.#open.keys()];
  }

  /** Why a request cannot be opened as a decision, in words for the agent; undefined when it can. */
  refusal(request: SessionRequest): string | undefined {
    if (this.#open.size >= MAX_OPEN)
      return `${MAX_OPEN} requests of this session wait for an answer already, so this one was denied without asking. Wait until some of them are answered, then ask again.`;
    if (jsonBytes([request.questions ?? [], request.options]) > MAX_QUESTION_BYTES)
      return `The question and its options are longer than ${MAX_QUESTION_BYTES} bytes, so it was denied without asking. Ask in fewer words.`;
    if (jsonBytes(this.#openOnes()) > MAX_OPEN_BYTES)
      return 'The requests of this session that wait for an answer are too long together, so this one was denied without asking. Wait until some of them are answered, then ask again.';
    return undefined;
  }

  /** A decision that somebody has to take, with a deadline; `asked` says which rule asks, and for what reason. */
  open(request: SessionRequest, asked: AskedBy = {}): Decision {
    const decision = this.#add(request, asked);
    const { decision_id: id } = decision;
    const deadline = this.#clock.after(this.#timeoutSeconds * 1000, () => this.#onDeadline(id));
    this.#open.set(id, { request, deadline });
    return decision;
  }

  /** A decision that a rule took at once. */
  record(request: SessionRequest, verdict: 'allow' | 'deny', reason: string): Decision {
    return this.#closed(this.#add(request), { verdict, by: 'rule', reason });
  }

  /** The request behind an open decision. Throws DECISION_NOT_FOUND or DECISION_CLOSED. */
  requestOf(decisionId: string): SessionRequest {
    const open = this.#open.get(decisionId);
    if (open !== undefined) return open.request;
    const closed = this.#decisions.get(decisionId);
    if (closed !== undefined) {
      const { summary, verdict, answered_by, closed_at } = closed;
      throw new BridgeError(
        'DECISION_CLOSED',
        `Decision ${decisionId} (${summary}) is closed: ${verdict ?? 'withdrawn'} by ${answered_by ?? 'nobody'} at ${closed_at ?? 'an unknown time'}.`,
        'Nothing was changed. The status of the task lists the decisions that are still open.',
      );
    }
    throw new BridgeError(
      'DECISION_NOT_FOUND',
      `The task has no decision '${oneLine(decisionId, 60)}'. Open decisions: ${this.openIds.join(', ') || 'none'}.`,
      'Take the decision_id from the status of the task.',
    );
  }

  /** Adds an answer to a closed decision that it came too late for; undefined where that is not stored any more. */
  addLate(decisionId: string, verdict: NonNullable<Decision['late']>[number]): Decision | undefined {
    const closed = this.#open.has(decisionId) ? undefined : this.#decisions.get(decisionId);
    const { late = [] } = closed ?? {};
    if (closed === undefined || late.length >= MAX_LATE) return undefined;
    return this.#put({ ...closed, late: [...late, verdict] });
  }

  /** Closes an open decision; the first answer wins, so a closed one throws as requestOf does. */
  close(decisionId: string, closing: Closing): Decision {
    this.requestOf(decisionId);
    this.#open.get(decisionId)?.deadline.dispose();
    this.#open.delete(decisionId);
    const decision = this.#decisions.get(decisionId);
    if (decision === undefined) throw new Error(`open decision ${decisionId} is not stored`);
    return this.#closed(decision, closing);
  }

  /** The open decision of a session's request, if any. */
  idOfRequest(requestId: string): string | undefined {
    return [...this.#open].find(([, { request }]) => request.requestId === requestId)?.[0];
  }

  dispose(): void {
    for (const { deadline } of this.#open.values()) deadline.dispose();
    this.#open.clear();
  }

  #openOnes(): Decision[] {
    return this.all.filter(({ closed_at }) => closed_at === null);
  }

  #add(request: SessionRequest, { why, isLeft = false, isForPerson = false }: AskedBy = {}): Decision {
    const nowMs = this.#clock.now();
    const input = boundedInput(request.input);
    const { kind, questions } = request;
    return this.#put({
      decision_id: `dec_${this.#next++}`,
      kind,
      tool: oneLine(request.tool, MAX_TOOL_CHARS),
      input,
      ...(input !== request.input && { input_is_cut: true }),
      summary: headBytes(request.summary, MAX_SUMMARY_BYTES),
      options: [...request.options],
      ...(questions !== undefined && {
        questions: questions.map((question) => ({ ...question, options: [...question.options] })),
      }),
      ...(why !== undefined && { why: oneLine(why, MAX_WHY_CHARS) }),
      ...(kind === 'permission' && request.source === 'exact' && !isForPerson && { can_edit: true }),
      ...(isLeft && { is_left: true }),
      ...(isForPerson && { is_for_person: true }),
      asked_at: new Date(nowMs).toISOString(),
      expires_at: new Date(nowMs + this.#timeoutSeconds * 1000).toISOString(),
      closed_at: null,
      verdict: null,
      answered_by: null,
      reason: null,
    });
  }

  #closed(decision: Decision, { verdict, by, reason, edits = [] }: Closing): Decision {
    return this.#put({
      ...decision,
      verdict,
      answered_by: by,
      reason: reason === null ? null : headBytes(reason, MAX_REASON_BYTES),
      ...(edits.length > 0 && { edits: [...edits] }),
      closed_at: new Date(this.#clock.now()).toISOString(),
    });
  }

  /** Puts it in its place, and forgets closed ones that are too many. */
  #put(decision: Decision): Decision {
    this.#decisions.set(decision.decision_id, decision);
    while (this.#decisions.size > MAX_KEPT || jsonBytes(this.all) > MAX_KEPT_BYTES) {
      const oldest = this.all.find(({ closed_at }) => closed_at !== null);
      if (oldest === undefined) break;
      this.#decisions.delete(oldest.decision_id);
      this.#dropped++;
    }
    return decision;
  }
}

/** The input itself, or the beginnings of its first fields. */
function boundedInput(input: Record<string, unknown>): Record<string, unknown> {
  if (jsonBytes(input) <= MAX_INPUT_BYTES) return input;
  const fields = Object.entries(input).slice(0, MAX_FIELDS);
  const share = Math.floor(MAX_INPUT_BYTES / fields.length);
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

/**
 * What was allowed for a whole session, so that the same is not asked about again. Claude Code does not get it: what a rule asks about it asks again. Only what hooks or the stream tell is remembered: a
 * screen may show a part alone. A file is one by its real path when it was asked about, when it was allowed, and at each use.
 */
export class SessionGrants {
  readonly #realPath: (path: string) => Promise<string>;
  readonly #decisionIds = new Map<string, string>();
  readonly #asked = new WeakMap<SessionRequest, string>();

  constructor(realPath: (path: string) => Promise<string>) {
    this.#realPath = realPath;
  }

  /** The request was allowed for the session by this decision; `find` was called with it before. */
  async add(request: SessionRequest, decisionId: string): Promise<void> {
    const key = await this.#keyOf(request);
    if (key === undefined || key !== this.#asked.get(request)) return;
    this.#decisionIds.set(key, decisionId);
    if (this.#decisionIds.size <= MAX_GRANTS) return;
    const [oldest] = this.#decisionIds.keys();
    if (oldest !== undefined) this.#decisionIds.delete(oldest);
  }

  /** The decision that allowed the same for the session. */
  async find(request: SessionRequest): Promise<string | undefined> {
    const key = await this.#keyOf(request);
    if (key === undefined) return undefined;
    this.#asked.set(request, key);
    return this.#decisionIds.get(key);
  }

  /** Equal for requests of which a yes to one is a yes to the other; undefined for what is never remembered. */
  async #keyOf({ kind, source, tool, input, folder }: SessionRequest): Promise<string | undefined> {
    if (kind !== 'permission' || source !== 'exact') return undefined;
    const effect = toolRow(tool)?.effect;
    const isFile = effect === 'reads' || effect === 'edits';
    const isCommand = commandOf(tool, input) !== undefined;
    const paths = pathsOf(tool, input).map((path) => resolve(folder ?? '/', path));
    // A command in a folder that is not known may be another one.
    if (isFile ? paths.length === 0 : isCommand && folder === undefined) return undefined;
    const real = await Promise.all(paths.map((path) => this.#realPath(path)));
    // What a command is called and how long it may take makes no difference.
    const { description: _, timeout: __, ...rest } = input;
    const host = tool === 'WebFetch' ? addressOf(tool, input)?.host : undefined;
    const isAny = isFile || tool === 'WebSearch';
    // The same in another folder is another one.
    const subject = isAny ? null : (host ?? [isCommand ? rest : input, folder ?? null]);
    return JSON.stringify([tool, paths, real, subject]);
  }
}
