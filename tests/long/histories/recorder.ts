import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { messageOf } from '../../../src/base/errors.js';
import { isFinal, taskStatusSchema } from '../../../src/tasks/task.js';
import type { McpClient, ToolResult } from '../../harness/mcp-clients.js';
import type { Answer, Call, SeenTask } from './history.js';

const LOOK_AGAIN_MS = 20;

const decisionSchema = z.looseObject({ decision_id: z.string(), summary: z.string() });
const taskSchema = z.looseObject({
  task_id: z.string(),
  status: taskStatusSchema,
  project_path: z.string().optional(),
  decisions: z.array(decisionSchema).optional(),
});
const listSchema = z.looseObject({
  tasks: z.array(taskSchema),
  unreadable: z.array(z.looseObject({ task_id: z.string() })).optional(),
  cursor: z.string().optional(),
});
const errorSchema = z.looseObject({ error: z.looseObject({ errorCode: z.string() }) });

/** What an answer may say of an end; the others, such as a message, are words about it. */
const END_FIELDS = ['reason', 'ended_at', 'elapsed_seconds', 'exit_code', 'signal', 'last_output'];

/** A question that a task waits with. */
export interface OpenQuestion {
  readonly taskId: string;
  readonly decisionId: string;
  readonly summary: string;
}

type About = Pick<Call, 'label' | 'response' | 'atEnd'>;

/** Writes down every call with its times and its answer, and gives it to whoever made it. */
export class Recorder {
  readonly calls: Call[] = [];
  /** How many tasks there may be. */
  tasks = 0;
  /** What the newest answers say: the tasks that are not known to have ended, and their questions. */
  readonly active = new Map<string, readonly OpenQuestion[]>();
  readonly #ended = new Set<string>();

  async call(
    server: string,
    client: McpClient,
    tool: string,
    args: Readonly<Record<string, unknown>>,
    about: About = {},
  ): Promise<Call> {
    const taskId = args['task_id'];
    const said = { server, tool, ...about, ...(typeof taskId === 'string' && { taskId }) };
    return this.#record(said, async () => {
      const result = await client.callTool(tool, args);
      return () => this.#answerOf(result);
    });
  }

  /** The whole record of a task, as the resource shows it. */
  async record(server: string, client: McpClient, taskId: string, about: About = {}): Promise<Call> {
    return this.#record({ server, tool: 'tasks://', taskId, ...about }, async () => {
      const text = await client.readResource(`tasks://${taskId}`);
      return () => ({ kind: 'tasks', tasks: [this.#seen(taskSchema.parse(JSON.parse(text)))] });
    });
  }

  /** Resolves when so many calls have been answered since now. */
  async more(count: number): Promise<void> {
    const wanted = this.calls.length + count;
    while (this.calls.length < wanted) await pause(LOOK_AGAIN_MS);
  }

  /** `ask` may fail as the server does; what it gives reads the answer, and fails only for one that is none. */
  async #record(
    said: Omit<Call, 'startedMs' | 'endedMs' | 'answer'>,
    ask: () => Promise<() => Answer>,
  ): Promise<Call> {
    const startedMs = performance.now();
    const read = await ask().catch((error: unknown) => () => failed(messageOf(error)));
    const call: Call = { ...said, startedMs, endedMs: performance.now(), answer: read() };
    this.calls.push(call);
    if (call.tool === 'start_task' && call.answer.kind !== 'refused') this.tasks++;
    return call;
  }

  #answerOf(result: ToolResult): Answer {
    if (result.isError === true) {
      const text = result.content.map((block) => block.text ?? '').join('\n');
      return { kind: 'refused', code: errorSchema.parse(result._meta).error.errorCode, text };
    }
    const list = listSchema.safeParse(result.structuredContent);
    if (!list.success)
      return { kind: 'tasks', tasks: [this.#seen(taskSchema.parse(result.structuredContent))] };
    return {
      kind: 'tasks',
      tasks: list.data.tasks.map((task) => this.#seen(task)),
      unreadable: (list.data.unreadable ?? []).map(({ task_id }) => task_id),
      isWholeList: list.data.cursor === undefined,
    };
  }

  #seen(task: z.infer<typeof taskSchema>): SeenTask {
    const { task_id: taskId, status, project_path: project, decisions } = task;
    if (isFinal(status)) {
      this.#ended.add(taskId);
      this.active.delete(taskId);
    } else if (!this.#ended.has(taskId) && (decisions !== undefined || !this.active.has(taskId))) {
      const open = (decisions ?? []).filter((one) => !('closed_at' in one) || one['closed_at'] === null);
      this.active.set(
        taskId,
        open.map(({ decision_id: decisionId, summary }) => ({ taskId, decisionId, summary })),
      );
    }
    const end = Object.fromEntries(
      END_FIELDS.filter((name) => name in task).map((name) => [name, task[name]]),
    );
    return { taskId, status, ...(project !== undefined && { project }), ...(isFinal(status) && { end }) };
  }
}

/** A resource is refused by an error of the protocol, whose text begins as that of a tool does. */
function failed(why: string): Answer {
  const code = /\b([A-Z]+(?:_[A-Z]+)+): /.exec(why)?.[1];
  return code === undefined ? { kind: 'none', why } : { kind: 'refused', code, text: why };
}
