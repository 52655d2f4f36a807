// Pure: a task over MCP, as a client delegates it.
import { z } from 'zod';
import { isFinal, taskStatusSchema } from '../../tasks/task.js';

/** Calls a tool over MCP and gives its `structuredContent`; rejects when the answer is an error. */
export type ToolCaller = (tool: string, args: Readonly<Record<string, unknown>>) => Promise<unknown>;

const answerSchema = z.object({
  isError: z.boolean().optional(),
  structuredContent: z.unknown().optional(),
  content: z.array(z.looseObject({ text: z.string().default('') })).default([]),
});
const openDecisionSchema = z.object({
  decision_id: z.string(),
  kind: z.string(),
  tool: z.string(),
  summary: z.string(),
  questions: z.array(z.object({ question: z.string(), options: z.array(z.string()).default([]) })).optional(),
});
const taskViewSchema = z.object({
  task_id: z.string(),
  status: taskStatusSchema,
  elapsed_seconds: z.number(),
  last_output: z.string().nullish(),
  final_message: z.string().nullish(),
  reason: z.string().nullish(),
  activity: z.string().nullish(),
  decisions: z.array(openDecisionSchema).default([]),
});
const waitedSchema = z.object({ tasks: z.tuple([taskViewSchema]), cursor: z.unknown() });
const startedSchema = z.object({ task_id: z.string() });
const listedSchema = z.object({
  tasks: z.array(z.object({ task_id: z.string(), status: taskStatusSchema })),
});
const outputSchema = z.object({ text: z.string() });

export type OpenDecision = z.infer<typeof openDecisionSchema>;
export type TaskView = z.infer<typeof taskViewSchema>;

export interface DecisionReply {
  readonly verdict: 'allow' | 'allow_session' | 'deny';
  readonly message?: string;
  readonly answers?: Readonly<Record<string, string>>;
}

/** `onChange` is called each time the status or the activity is another one, and `decide` once for each decision. */
export interface TaskFollower {
  readonly onChange: (task: TaskView) => void;
  readonly decide: (decision: OpenDecision) => Promise<DecisionReply>;
}

/** Short, so that the activity between two changes of status is seen as well. */
const WAIT_SECONDS = 2;

/** The structured content of an answer; an error answer is thrown with its words. */
export function structuredContentOf(tool: string, answer: unknown): unknown {
  const { isError, structuredContent, content } = answerSchema.parse(answer);
  if (isError !== true) return structuredContent;
  throw new Error(`${tool} was refused: ${content.map(({ text }) => text).join('\n')}`);
}

/** Starts a task and gives its id. */
export async function startTask(call: ToolCaller, args: Readonly<Record<string, unknown>>): Promise<string> {
  return startedSchema.parse(await call('start_task', args)).task_id;
}

/** Follows a task to its end, answering each decision on the way; gives the final view. Rejects when `signal` aborts. */
export async function followTask(
  call: ToolCaller,
  taskId: string,
  { onChange, decide }: TaskFollower,
  signal?: AbortSignal,
): Promise<TaskView> {
  const answered = new Set<string>();
  let cursor: unknown;
  let shown = '';
  for (;;) {
    signal?.throwIfAborted();
    const args = { task_ids: [taskId], timeout_seconds: WAIT_SECONDS };
    const waited = waitedSchema.parse(
      await call('wait_for_task', { ...args, ...(cursor !== undefined && { cursor }) }),
    );
    const [task] = waited.tasks;
    cursor = waited.cursor;
    const seen = `${task.status} ${task.activity ?? ''}`;
    if (seen !== shown) onChange(task);
    shown = seen;
    if (isFinal(task.status)) return task;
    for (const decision of task.decisions.filter(({ decision_id }) => !answered.has(decision_id))) {
      answered.add(decision.decision_id);
      const reply = await decide(decision);
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

/** Ends every task that has not ended. */
export async function endTasks(call: ToolCaller): Promise<void> {
  const { tasks } = listedSchema.parse(await call('list_tasks', {}));
  for (const { task_id, status } of tasks) if (!isFinal(status)) await call('kill_task', { task_id });
}
