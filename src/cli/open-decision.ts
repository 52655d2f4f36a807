// Pure: which decision of a task an answer is for.
import { BridgeError } from '../base/errors.js';
import { oneLine } from '../base/text/text.js';
import { isFinal, isNative, openDecisions, type Decision, type TaskRecord } from '../tasks/task.js';

/** An answer that names no decision is for the last one, if that was closed within this. */
const JUST_NOW_MS = 60_000;
const MAX_REASON_CHARS = 300;

/**
 * The decision of that id, or the only open one. Throws DECISION_CLOSED, DECISION_NOT_FOUND, INVALID_ARGUMENTS. `command` is how a
 * person runs this program, `nowMs` the milliseconds since the epoch.
 */
export function openDecision(
  record: TaskRecord,
  id: string | undefined,
  { command, nowMs }: { readonly command: string; readonly nowMs: number },
): Decision {
  const open = openDecisions(record);
  const ids = open.map(({ decision_id }) => decision_id).join(', ');
  const [first] = open;
  const show = `${command} ${isNative(record) ? 'native' : 'tasks'} show ${record.task_id}`;
  const hint = `${show} shows what it ${isFinal(record.status) ? 'did' : 'does'}.`;
  const closed = id === undefined ? justClosed(record, nowMs) : closedOne(record, id);
  if (closed !== undefined && (id !== undefined || first === undefined))
    throw new BridgeError('DECISION_CLOSED', closedWords(closed), hint);
  if (first === undefined) {
    const message = `${record.task_id} asks nothing now: it is ${record.status}.`;
    throw new BridgeError('DECISION_NOT_FOUND', message, hint);
  }
  if (id === undefined && open.length === 1) return first;
  if (id === undefined) {
    const message = `${record.task_id} asks ${open.length} things: ${ids}.`;
    throw new BridgeError('INVALID_ARGUMENTS', message, 'Name one of them before the answer.');
  }
  const named = open.find(({ decision_id }) => decision_id === id);
  if (named !== undefined) return named;
  const message = `${record.task_id} has no open decision '${id.slice(0, 40)}'.`;
  throw new BridgeError('DECISION_NOT_FOUND', message, `Open: ${ids}.`);
}

function closedOne({ decisions }: TaskRecord, id: string): Decision | undefined {
  return decisions.find(({ decision_id, closed_at }) => decision_id === id && closed_at !== null);
}

/** The last decision that was asked, while its end is fresh; one that a rule took was asked of no person. */
function justClosed({ status, decisions }: TaskRecord, nowMs: number): Decision | undefined {
  const last = decisions.findLast(({ answered_by }) => answered_by !== 'rule');
  if (isFinal(status) || last?.closed_at == null) return undefined;
  return nowMs - Date.parse(last.closed_at) <= JUST_NOW_MS ? last : undefined;
}

function closedWords({ decision_id, verdict, answered_by, reason }: Decision): string {
  if (verdict === null || verdict === 'withdrawn') {
    const why = oneLine(reason ?? '', MAX_REASON_CHARS);
    return `${decision_id} is closed${why === '' ? '' : `: ${why}`}.`.replace(/\.\.$/, '.');
  }
  return `${decision_id} was already answered: ${verdict}${answered_by === null ? '' : ` by ${answered_by}`}.`;
}
