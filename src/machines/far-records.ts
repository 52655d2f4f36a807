// Pure: what another machine says, as it is known here: ids with the name of the machine, times of this clock.
import { BridgeError } from '../base/errors.js';
import { farIdOf, idOn, PROCESS_ID_PATTERN, TASK_ID_PATTERN } from '../base/ids.js';
import { oneLine } from '../base/text.js';
import { isObject, type JsonObject } from '../mcp/answers.js';
import type { Decision, TaskRecord } from '../tasks/task.js';
import type { Machine } from './machine.js';
import { unanswered } from './unreachable.js';

/** Two clocks that differ by less are the same: the offset is known no better than an answer takes. */
const SAME_CLOCK_MS = 2_000;
const SECOND_MS = 1_000;
const MAX_WHY_CHARS = 200;
/** What may be taken for an id. */
const LIKE_ID = /(?:task|proc)_/;
const MAX_ID_CHARS = 100;
const TIME_CHARS = 16;
/** A list of tasks in an answer, the decisions of one of them, and one of these. */
const MAX_DEPTH = 4;
const ID_FIELDS: ReadonlySet<string> = new Set(['task_id', 'pid']);
/** What the agent there asks for: its words. */
const REQUEST = 'request';

type FarMachine = Pick<Machine, 'name' | 'clockOffsetMs'>;

/** The record of a task of another machine, whose id gets the name of the machine. None was created after now, so none stays the newest. */
export function recordFrom(machine: FarMachine, record: TaskRecord, nowMs: number): TaskRecord {
  const here = (time: string): string => timeHere(machine, time);
  const orNull = (time: string | null): string | null => (time === null ? null : here(time));
  const decision = (one: Decision): Decision => ({
    ...one,
    asked_at: here(one.asked_at),
    expires_at: here(one.expires_at),
    closed_at: orNull(one.closed_at),
  });
  const { trouble } = record;
  return {
    ...record,
    task_id: idOn(machine.name, record.task_id),
    created_at: notAfter(nowMs, here(record.created_at)),
    started_at: orNull(record.started_at),
    ended_at: orNull(record.ended_at),
    decisions: record.decisions.map(decision),
    ...(trouble && {
      trouble: { ...trouble, since: here(trouble.since), resumes_at: orNull(trouble.resumes_at) },
    }),
  };
}

function notAfter(nowMs: number, time: string): string {
  return Date.parse(time) > nowMs ? new Date(nowMs).toISOString() : time;
}

/** An answer of a tool there: its ids and deadlines as they are here. Prose stays as it is. */
export function answerFrom(machine: FarMachine, answer: JsonObject, depth = MAX_DEPTH): JsonObject {
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [name, fieldFrom(machine, name, value, depth)]),
  );
}

function fieldFrom(machine: FarMachine, name: string, value: unknown, depth: number): unknown {
  if (typeof value === 'string') {
    if (ID_FIELDS.has(name)) return knownIdHere(machine.name, value);
    return name === 'expires_at' ? timeHere(machine, value) : value;
  }
  if (depth === 0 || name === REQUEST) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => fieldFrom(machine, '', item, depth - 1));
  return isObject(value) ? answerFrom(machine, value, depth - 1) : value;
}

/** What was thrown there, with the ids in its steps and data as they are here. What only looks like an id is left out. */
export function errorFrom(machine: string, error: unknown): unknown {
  if (!(error instanceof BridgeError)) return error;
  const next = error.next.flatMap((step) => {
    if (typeof step === 'string' || step.task === undefined) return [step];
    const task = idHere(machine, step.task);
    return isIdOf(machine, task) ? [{ ...step, task }] : [];
  });
  const data = Object.fromEntries(
    Object.entries(error.data)
      .map(([name, value]): [string, string] => [name, idHere(machine, value)])
      .filter(([name, value]) => name === 'why' || !LIKE_ID.test(value) || isIdOf(machine, value)),
  );
  return new BridgeError(error.code, error.message, next, { data, cause: error });
}

/** Why what is known of a machine is not of now: `unverifiable since 14:02 (…)`. */
export function cutWords({ state }: Pick<Machine, 'state'>, nowMs: number): string {
  if (state.how !== 'unverifiable') return 'not answering yet';
  const why = state.why === '' ? '' : ` (${oneLine(state.why, MAX_WHY_CHARS)})`;
  return `unverifiable since ${timeWords(state.sinceMs, nowMs)}${why}`;
}

/** The time of this machine, with the date where it is another one. */
export function timeWords(atMs: number, nowMs: number): string {
  const local = (ms: number): string => {
    const date = new Date(ms);
    return new Date(ms - date.getTimezoneOffset() * 60 * SECOND_MS).toISOString().slice(0, TIME_CHARS);
  };
  const [day = '', time = ''] = local(atMs).split('T');
  return local(nowMs).startsWith(day) ? time : `${day} ${time}`;
}

/** An id of a task or a process; any other text stays as it is. */
export function idHere(machine: string, text: string): string {
  return TASK_ID_PATTERN.test(text) || PROCESS_ID_PATTERN.test(text) ? idOn(machine, text) : text;
}

/** An id with the name of this machine. */
function isIdOf(machine: string, text: string): boolean {
  const far = farIdOf(text);
  return far?.machine === machine && idHere(machine, far.id) !== far.id;
}

/** Throws MACHINE_UNREACHABLE for what is no id: a later call would take it for one. */
function knownIdHere(machine: string, text: string): string {
  const id = idHere(machine, text);
  if (id !== text) return id;
  throw unanswered(
    machine,
    'unknown',
    `has answered with ${JSON.stringify(text.slice(0, MAX_ID_CHARS))}, which is no id`,
  );
}

/** A time of its clock, by this one. */
export function timeHere({ clockOffsetMs }: Pick<Machine, 'clockOffsetMs'>, time: string): string {
  if (Math.abs(clockOffsetMs) < SAME_CLOCK_MS) return time;
  // Whole seconds: the same time comes out the same, though the offset is measured again and again.
  const moved = new Date(Date.parse(time) + Math.round(clockOffsetMs / SECOND_MS) * SECOND_MS);
  return Number.isNaN(moved.getTime()) ? time : moved.toISOString();
}

/** For a call that changes something, by an id that only another machine knows. */
export function needsMachine(id: string): BridgeError {
  const [machine = '', bare = ''] = id.split('/');
  return new BridgeError(
    'TASK_NOT_FOUND',
    `This machine has no task ${bare}; ${machine} says that it has one.`,
    `To act on that one, name the machine: ${id}.`,
  );
}
