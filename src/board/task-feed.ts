import { z } from 'zod';
import { messageOf } from '../base/errors.js';
import { readRegularFile } from '../base/files/regular-file.js';
import type { Disposable } from '../base/lifecycle.js';
import { headBytes } from '../base/text.js';
import { briefText } from '../checks/brief.js';
import type { ReceiptService } from '../tasks/receipt/task-receipts.js';
import { receiptView } from '../tasks/receipt/receipt.js';
import { isFinal, type TaskRecord } from '../tasks/task.js';
import type { TaskService } from '../tasks/task-service.js';
import type { Put } from './channel.js';
import { followTask, type FeedOptions } from './feed.js';
import type { TimelineEvent } from './state.js';
import { cardOf, checksOf, decisionViewOf } from './task-views.js';

/** So many events of a task are shown; older ones are in the journal. */
const MAX_EVENTS = 5_000;
/** Of the events that were there when the page of the task was opened. */
const FIRST_EVENTS_BYTES = 2 * 1024 * 1024;
const MAX_EVENTS_BYTES = 16 * 1024 * 1024;
const MAX_PROMPT_BYTES = 64 * 1024;
const MAX_PROMPT_FILE_BYTES = 64 * 1024 * 1024;
const MAX_RECEIPT_BYTES = 256 * 1024;
const JOURNAL_PAGE_BYTES = 1024 * 1024;
const eventSchema = z.looseObject({ seq: z.number(), at: z.string(), type: z.string() });

export interface TaskFeedOptions extends FeedOptions {
  readonly receipts: ReceiptService;
  readonly promptOf: (record: TaskRecord) => Promise<string>;
}

/** Shows one task. Throws as `followTask`. */
export function openTaskFeed(options: TaskFeedOptions, put: Put, taskId: string): Promise<Disposable> {
  const { tasks, receipts, logger } = options;
  let cursor: string | undefined;
  let events: readonly TimelineEvent[] = [];
  let prompt: string | undefined;
  let receipt: object | null = null;
  let asksForReceipt = false;
  /** The keeper makes it right after the end, which takes a moment. */
  const readReceipt = async (record: TaskRecord, left: AbortSignal, again: () => void): Promise<void> => {
    asksForReceipt = true;
    try {
      const found = await receipts.receiptOf(record, left);
      if (found === undefined) return;
      const { receipt: facts, left_out } = receiptView(found, MAX_RECEIPT_BYTES);
      receipt = { ...facts, left_out };
      again();
    } catch (error) {
      asksForReceipt = false;
      logger.warn('A receipt could not be read', { taskId, error: messageOf(error) });
    }
  };
  return followTask(options, put, taskId, (again) => async (record, left) => {
    prompt ??= await options.promptOf(record);
    const isFirst = cursor === undefined;
    const news = await eventsAfter(tasks, taskId, cursor);
    cursor = news.cursor;
    events = newestEvents([...events, ...news.events], isFirst ? FIRST_EVENTS_BYTES : MAX_EVENTS_BYTES);
    if (isFinal(record.status) && !asksForReceipt) void readReceipt(record, left, again);
    return new Map<string, unknown>([
      ['task', cardOf(record)],
      ['prompt', prompt],
      ['brief', briefText(record.brief)],
      ['checks', checksOf(record)],
      ['final_message', record.final_message],
      ['receipt', receipt],
      ['earlier_events', (events[0]?.seq ?? 1) - 1],
      ...record.decisions.map((one) => [`decision/${one.decision_id}`, decisionViewOf(taskId, one)] as const),
      ...events.map((event) => [`event/${event.seq}`, event] as const),
    ]);
  });
}

/** The events of a task's journal after a cursor. Throws as the task service does. */
async function eventsAfter(
  tasks: TaskService,
  taskId: string,
  from: string | undefined,
): Promise<{ readonly events: readonly TimelineEvent[]; readonly cursor: string }> {
  const events: TimelineEvent[] = [];
  for (let cursor = from; ;) {
    const page = await tasks.output({ taskId, view: 'events', cursor, maxBytes: JOURNAL_PAGE_BYTES });
    for (const line of page.text.split('\n'))
      if (line !== '') events.push(eventSchema.parse(JSON.parse(line)));
    ({ cursor } = page);
    if (!page.more) return { events, cursor: page.cursor };
  }
}

/** The prompt in its file; one that is gone is still in the record, on one line. */
export async function promptOf(file: string, record: TaskRecord): Promise<string> {
  const read = await readRegularFile(file, MAX_PROMPT_FILE_BYTES);
  const text = 'bytes' in read ? read.bytes.toString('utf8') : record.prompt_summary;
  const head = headBytes(text, MAX_PROMPT_BYTES);
  return head === text ? text : `${head}\n… (${Buffer.byteLength(text)} bytes in all)`;
}

/** The newest events, as many as a page gets. */
function newestEvents(all: readonly TimelineEvent[], maxBytes: number): readonly TimelineEvent[] {
  let bytes = 0;
  let from = all.length;
  while (from > 0 && all.length - from < MAX_EVENTS) {
    bytes += JSON.stringify(all[from - 1]).length;
    if (bytes > maxBytes) break;
    from--;
  }
  return all.slice(from);
}
