// Pure: a task over MCP, as a client delegates it.
import { z } from 'zod';
import { isFinal, taskStatusSchema } from '../../tasks/task.js';

/** Calls a tool over MCP and gives its `structuredContent`; rejects when the answer is an error. */
export type ToolCaller = (tool: string, args: Readonly<Record<string, unknown>>) => Promise<unknown>;

const answerSchema = z.object({
  isError: z.boolean().optional(),
  structuredContent: z.unknown().optional(),
  content: z.array(z.looseObject({ type: z.string() })).default([]),
});
const textSchema = z.object({ text: z.string() });

/** The structured content of an answer; an error answer is thrown with its words. */
export function structuredContentOf(tool: string, answer: unknown): unknown {
  const parsed = answerSchema.parse(answer);
  if (parsed.isError !== true) return parsed.structuredContent;
  const words = parsed.content.flatMap((block) => textSchema.safeParse(block).data?.text ?? []).join('\n');
  throw new Error(`${tool} was refused: ${words}`);
}

const openDecisionSchema = z.object({
  decision_id: z.string(),
  kind: z.string(),
  tool: z.string(),
  summary: z.string(),
  options: z.array(z.string()).default([]),
  questions: z.array(z.object({ question: z.string(), options: z.array(z.string()).default([]) })).optional(),
});
export type OpenDecision = z.infer<typeof openDecisionSchema>;

const taskViewSchema = z.object({
  task_id: z.string(),
  status: taskStatusSchema,
  elapsed_seconds: z.number(),
  exit_code: z.number().nullish(),
  last_output: z.string().nullish(),
  final_message: z.string().nullish(),
  reason: z.string().nullish(),
  activity: z.string().nullish(),
  decisions: z.array(openDecisionSchema).default([]),
});
export type TaskView = z.infer<typeof taskViewSchema>;

const startedSchema = z.object({ task_id: z.string() });
const waitedSchema = z.object({ tasks: z.array(taskViewSchema).min(1), cursor: z.unknown() });
const listedSchema = z.object({
  tasks: z.array(z.object({ task_id: z.string(), status: taskStatusSchema })),
});
const outputSchema = z.object({ text: z.string() });

const receiptViewSchema = z.object({
  receipt: z.object({
    commands: z.array(
      z.object({ command: z.string(), exit_code: z.int().nullable(), note: z.string().optional() }),
    ),
    git: z.object({
      files: z
        .array(z.object({ path: z.string(), insertions: z.int().optional(), deletions: z.int().optional() }))
        .default([]),
    }),
  }),
});
export type ShownReceipt = z.infer<typeof receiptViewSchema>['receipt'];

export interface DecisionReply {
  readonly verdict: 'allow' | 'allow_session' | 'deny';
  readonly message?: string;
  readonly answers?: Readonly<Record<string, string>>;
}

export interface TaskFollower {
  /** Each time the status or the activity is another one. */
  onChange(task: TaskView): void;
  /** Asked once for each decision. */
  decide(decision: OpenDecision): Promise<DecisionReply>;
}

/** Short, so that the activity between two changes of status is seen as well. */
const WAIT_SECONDS = 2;

/** Starts a task and gives its id. */
export async function startTask(call: ToolCaller, args: Readonly<Record<string, unknown>>): Promise<string> {
  return startedSchema.parse(await call('start_task', args)).task_id;
}

/** Follows a task to its end, answering each decision on the way; gives the final view. Rejects when `signal` aborts. */
export async function followTask(
  call: ToolCaller,
  taskId: string,
  follower: TaskFollower,
  signal?: AbortSignal,
): Promise<TaskView> {
  const answered = new Set<string>();
  let cursor: unknown;
  let shown = '';
  for (;;) {
    signal?.throwIfAborted();
    const args = {
      task_ids: [taskId],
      timeout_seconds: WAIT_SECONDS,
      ...(cursor !== undefined && { cursor }),
    };
    const waited = waitedSchema.parse(await call('wait_for_task', args));
    cursor = waited.cursor;
    const task = waited.tasks.find((one) => one.task_id === taskId);
    if (!task) throw new Error(`wait_for_task did not report ${taskId}`);
    const seen = `${task.status} ${task.activity ?? ''}`;
    if (seen !== shown) follower.onChange(task);
    shown = seen;
    if (isFinal(task.status)) return task;
    for (const decision of task.decisions) {
      if (answered.has(decision.decision_id)) continue;
      answered.add(decision.decision_id);
      const reply = await follower.decide(decision);
      await call('respond_to_task', { task_id: taskId, decision_id: decision.decision_id, ...reply });
    }
  }
}

/** One view of a task's output: what fits into one reply. */
export async function readTaskOutput(
  call: ToolCaller,
  taskId: string,
  view: 'log' | 'screen' | 'events',
): Promise<string> {
  return outputSchema.parse(await call('get_task_output', { task_id: taskId, view })).text;
}

/** What was seen of a task that has ended. */
export async function readReceipt(call: ToolCaller, taskId: string): Promise<ShownReceipt> {
  return receiptViewSchema.parse(await call('get_task_result', { task_id: taskId })).receipt;
}

/** Ends every task that has not ended. */
export async function endTasks(call: ToolCaller): Promise<void> {
  const { tasks } = listedSchema.parse(await call('list_tasks', {}));
  for (const { task_id, status } of tasks) if (!isFinal(status)) await call('kill_task', { task_id });
}
