import { z } from 'zod';
import { receiptSchema, type Receipt } from '../../src/tasks/receipt/receipt.js';
import { isFinal, taskStatusSchema } from '../../src/tasks/task.js';
import type { McpClient } from './mcp-clients.js';

const decisionSchema = z.object({
  decision_id: z.string(),
  kind: z.string(),
  tool: z.string(),
  summary: z.string(),
  options: z.array(z.string()),
  expires_at: z.string(),
  questions: z.array(z.looseObject({ question: z.string(), options: z.array(z.string()) })).optional(),
});
export type OpenDecision = z.infer<typeof decisionSchema>;

const taskViewSchema = z.looseObject({
  task_id: z.string(),
  status: taskStatusSchema,
  decisions: z.array(decisionSchema),
});

const statusSchema = taskViewSchema.extend({
  reason: z.string(),
  activity: z.string(),
  elapsed_seconds: z.number(),
  exit_code: z.number().nullable(),
  files_changed: z.array(z.string()),
  last_output: z.string(),
  hint: z.string(),
});
export type TaskStatusView = z.infer<typeof statusSchema>;

const listSchema = z.looseObject({ tasks: z.array(z.looseObject({ task_id: z.string() })) });
const waitedSchema = z.looseObject({ tasks: z.array(taskViewSchema), cursor: z.string() });
const outputSchema = z.looseObject({
  text: z.string(),
  cursor: z.string(),
  more: z.boolean(),
  total_bytes: z.number().optional(),
});
export type OutputPage = z.infer<typeof outputSchema>;

/** Short: an activity alone changes without waking a waiting caller. */
const WAIT_SECONDS = 1;
/** Far more than any task of a test takes; a test that waits for nothing fails with what it saw. */
const LIMIT_MS = 60_000;

/** The calls of a client, one method a tool, with parsed answers. */
export class TaskClient {
  readonly mcp: McpClient;

  constructor(mcp: McpClient) {
    this.mcp = mcp;
  }

  /** `structuredContent` of a call; throws the text of an answer that is an error. */
  async call(tool: string, args: Readonly<Record<string, unknown>> = {}): Promise<Record<string, unknown>> {
    const result = await this.mcp.callTool(tool, args);
    const text = result.content.map((block) => block.text ?? '').join('\n');
    if (result.isError === true) throw new Error(text);
    if (result.structuredContent === undefined)
      throw new Error(`${tool} answered without structuredContent: ${text}`);
    return result.structuredContent;
  }

  /** The text of an answer that must be an error. */
  async refusal(tool: string, args: Readonly<Record<string, unknown>>): Promise<string> {
    const result = await this.mcp.callTool(tool, args);
    if (result.isError !== true) throw new Error(`${tool} was not refused: ${JSON.stringify(result)}`);
    return result.content.map((block) => block.text ?? '').join('\n');
  }

  /** Starts a task and gives its id. */
  async start(args: Readonly<Record<string, unknown>>): Promise<string> {
    return taskViewSchema.parse(await this.call('start_task', args)).task_id;
  }

  /** The ids of the tasks that list_tasks shows. */
  async ids(query: Readonly<Record<string, unknown>> = {}): Promise<string[]> {
    return listSchema.parse(await this.call('list_tasks', query)).tasks.map(({ task_id }) => task_id);
  }

  async status(taskId: string): Promise<TaskStatusView> {
    return statusSchema.parse(await this.call('get_task_status', { task_id: taskId }));
  }

  /** The status when it is the first time as wanted. Fails when the task ends otherwise. */
  async until(
    taskId: string,
    isWanted: (view: TaskStatusView) => boolean | Promise<boolean>,
  ): Promise<TaskStatusView> {
    const deadlineMs = performance.now() + LIMIT_MS;
    // A caller that has seen nothing yet: the first answer comes at once.
    let cursor = `${taskId}:0`;
    for (;;) {
      const view = await this.status(taskId);
      if (await isWanted(view)) return view;
      if (isFinal(view.status) || performance.now() > deadlineMs) {
        const log = await this.output(taskId, 'log');
        throw new Error(`the task did not become as wanted: ${JSON.stringify(view, null, 1)}\n${log.text}`);
      }
      const waited = await this.call('wait_for_task', {
        task_ids: [taskId],
        timeout_seconds: WAIT_SECONDS,
        cursor,
      });
      cursor = waitedSchema.parse(waited).cursor;
    }
  }

  end(taskId: string): Promise<TaskStatusView> {
    return this.until(taskId, (view) => isFinal(view.status));
  }

  /** Ends every task that runs or waits, also what a try that failed has left; one may have ended meanwhile. */
  async killAll(): Promise<void> {
    for (const task_id of await this.ids({ status: 'active' }))
      await this.call('kill_task', { task_id }).catch((error: unknown) => {
        if (!String(error).includes('TASK_NOT_RUNNING')) throw error;
      });
  }

  /** The oldest open decision, as soon as there is one. */
  async decision(taskId: string): Promise<OpenDecision> {
    const view = await this.until(taskId, ({ decisions }) => decisions.length > 0);
    const [first] = view.decisions;
    if (first === undefined) throw new Error('no decision is open');
    return first;
  }

  async respond(
    taskId: string,
    decision: OpenDecision,
    answer: Readonly<{ verdict: string; message?: string; answers?: Readonly<Record<string, string>> }>,
  ): Promise<void> {
    await this.call('respond_to_task', { task_id: taskId, decision_id: decision.decision_id, ...answer });
  }

  /** Waits for the next decision and answers it; gives it. */
  async answerNext(
    taskId: string,
    answer: Readonly<{ verdict: string; message?: string; answers?: Readonly<Record<string, string>> }>,
  ): Promise<OpenDecision> {
    const decision = await this.decision(taskId);
    await this.respond(taskId, decision, answer);
    return decision;
  }

  async output(
    taskId: string,
    view: 'log' | 'screen' | 'events',
    more: Readonly<{ cursor?: string; max_bytes?: number }> = {},
  ): Promise<OutputPage> {
    return outputSchema.parse(await this.call('get_task_output', { task_id: taskId, view, ...more }));
  }

  /** The whole receipt of a task that has one. */
  async receipt(taskId: string): Promise<Receipt> {
    const record: unknown = JSON.parse(await this.mcp.readResource(`tasks://${taskId}`));
    return z.looseObject({ receipt: receiptSchema }).parse(record).receipt;
  }

  /** What was decided, in order: tool, verdict, and who answered. */
  async decided(taskId: string): Promise<string[]> {
    const closed = await this.events(taskId, 'decision-closed');
    return closed.map(({ tool, verdict, answered_by }) => [tool, verdict, answered_by].join(' '));
  }

  /** The journal's entries of one type. */
  async events(taskId: string, type: string): Promise<Record<string, unknown>[]> {
    const { text } = await this.output(taskId, 'events', { cursor: '0', max_bytes: 262_144 });
    const entrySchema = z.looseObject({ type: z.string() });
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => entrySchema.parse(JSON.parse(line)))
      .filter((entry) => entry.type === type);
  }
}
