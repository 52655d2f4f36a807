// Pure: the end of a task in words, for the client that follows it.
import { countOf, headBytes, oneLine, quotedLines, someNames } from '../../base/text/text.js';
import { usedWords } from '../../tasks/budget/budget.js';
import { pollingHint } from '../../tasks/polling-hint.js';
import { WAITS_FOR_MESSAGE, isFinal, openDecisions, type TaskRecord } from '../../tasks/task.js';

/** Of all words: they are in the context of the model from then on. */
const WORDS_BYTES = 2_000;
const REASON_CHARS = 300;

/** True where the work is done: the task has ended, or its session waits for the next message. */
export function isOver(record: TaskRecord): boolean {
  if (isFinal(record.status)) return true;
  return (
    record.status === 'waiting' &&
    openDecisions(record).length === 0 &&
    record.reason.endsWith(WAITS_FOR_MESSAGE)
  );
}

/** Status, reason, files, cost and the next step, at most 2 KB; the final message takes what is left. */
export function endWords(record: TaskRecord, late: readonly string[]): string {
  const { task_id, status, files_changed, elapsed_seconds, final_message } = record;
  const used = usedWords(record);
  const facts = [
    `${task_id} is ${status}: ${oneLine(record.reason, REASON_CHARS)}`,
    `Time: ${Math.floor(elapsed_seconds)} s.${used === '' ? '' : ` Used: ${used}.`}`,
    ...(files_changed.length === 0 ? [] : [`Files: ${oneLine(someNames(files_changed), REASON_CHARS)}`]),
    ...late.map((words) => oneLine(words, REASON_CHARS)),
  ].join('\n');
  const next = pollingHint(record);
  const left = WORDS_BYTES - Buffer.byteLength(facts) - Buffer.byteLength(next);
  return [facts, ...finalMessage(final_message, left), next].join('\n');
}

/** Each line with a mark before it, so that nothing in it looks like a fact of the bridge. */
function finalMessage(text: string, maxBytes: number): string[] {
  if (text === '') return [];
  const lines = quotedLines(text);
  const shown = headBytes(lines, Math.max(0, maxBytes - REASON_CHARS));
  const more = lines.length - shown.length;
  const rest = more === 0 ? '' : ` (${countOf(more)} characters more: get_task_result)`;
  return [`What the agent says of it${rest}:`, shown];
}
