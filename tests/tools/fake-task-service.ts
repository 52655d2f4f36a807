import { BridgeError } from '../../src/base/errors.js';
import { Emitter, toDisposable, type Disposable } from '../../src/base/lifecycle.js';
import type { DecisionAnswer } from '../../src/tasks/task-host.js';
import type {
  OutputPage,
  OutputQuery,
  StartTask,
  TaskPage,
  TaskQuery,
  TaskService,
  TaskWait,
  WaitOutcome,
} from '../../src/tasks/task-service.js';
import type { ReceiptService } from '../../src/tasks/receipt/task-receipts.js';
import { isFinal, type Decision, type TaskRecord } from '../../src/tasks/task.js';
import { sampleDecision } from '../tasks/sample-decision.js';

export const TASK_ID = 'task_0123456789abcdef0123';
export const OTHER_ID = 'task_ffffffffffffffffffff';

export function taskRecord(changes: Partial<TaskRecord> = {}): TaskRecord {
  return {
    schema_version: 2,
    task_id: TASK_ID,
    status: 'running',
    status_source: 'exact',
    reason: 'The agent works.',
    activity: 'Bash: npm test',
    project_path: '/home/ann/app',
    prompt_summary: 'Fix the login',
    prompt_bytes: 13,
    permission_mode: 'auto',
    driver: 'interactive',
    model: null,
    keep_open: false,
    timeout_seconds: 3600,
    created_at: '2026-03-01T10:00:00.000Z',
    started_at: '2026-03-01T10:00:01.000Z',
    started_monotonic_ms: null,
    ended_at: null,
    elapsed_seconds: 12.7,
    keeper: { pid: 10, start_time: '5', boot_id: 'b' },
    agent: { pid: 11, start_time: '6', boot_id: 'b' },
    socket_path: '/run/user/1000/bridge/a.sock',
    process_mark: 'a-secret-mark',
    exit_code: null,
    signal: null,
    session_id: null,
    cli_version: '2.1.0',
    turns: 1,
    final_message: '',
    last_output: 'Running the tests',
    output_bytes: 100,
    files_changed: ['/home/ann/app/src/login.ts'],
    decisions: [],
    change_seq: 3,
    log_file: '/home/ann/app/.claude/mcp-logs/task.log',
    prompt_file: '/home/ann/app/.claude/mcp-logs/prompt.md',
    storage: null,
    ...changes,
  };
}

export function decision(changes: Partial<Decision> = {}): Decision {
  return sampleDecision({
    input: { command: 'rm -r build' },
    summary: 'Bash: rm -r build',
    options: ['Yes', 'No'],
    asked_at: '2026-03-01T10:00:05.000Z',
    expires_at: '2026-03-01T10:10:05.000Z',
    ...changes,
  });
}

/** Where no task has a receipt. */
export const noReceipts: ReceiptService = { receiptOf: async () => undefined };

/** Tasks in memory: what the tools see of the real ones, and what they asked of them. */
export class FakeTaskService implements TaskService {
  readonly records = new Map<string, TaskRecord>();
  readonly started: StartTask[] = [];
  readonly answers: DecisionAnswer[] = [];
  readonly messages: unknown[] = [];
  readonly outputs: OutputQuery[] = [];
  readonly lists: TaskQuery[] = [];
  readonly watched = new Map<string, number>();
  text = 'line one\nline two\n';
  readonly #changes = new Emitter<string>();
  readonly onDidChange = this.#changes.event;

  constructor(...records: readonly TaskRecord[]) {
    for (const record of records) this.records.set(record.task_id, record);
  }

  change(taskId: string, changes: Partial<TaskRecord> = {}): void {
    this.records.set(taskId, { ...this.#known(taskId), ...changes });
    this.#changes.fire(taskId);
  }

  remove(taskId: string): void {
    this.records.delete(taskId);
    this.#changes.fire(taskId);
  }

  async start(input: StartTask): Promise<TaskRecord> {
    this.started.push(input);
    if (input.path === '/busy') {
      throw new BridgeError(
        'TASK_ALREADY_RUNNING',
        `Task ${OTHER_ID} is already running in /busy.`,
        'Wait for it with wait_for_task, or end it with kill_task.',
      );
    }
    if (input.path === '/bug') throw new TypeError('undefined is not a function');
    const record = taskRecord(input.path === undefined ? {} : { project_path: input.path });
    this.records.set(record.task_id, record);
    return record;
  }

  async get(taskId: string): Promise<TaskRecord> {
    return this.#known(taskId);
  }

  async list(query: TaskQuery): Promise<TaskPage> {
    this.lists.push(query);
    const all = [...this.records.values()];
    const asked = all
      .filter((record) => query.status !== 'active' || !isFinal(record.status))
      .filter((record) => query.delegated !== true || record.delegated === true);
    const from = query.cursor === undefined ? 0 : Number(query.cursor);
    const tasks = asked.slice(from, from + (query.limit ?? Infinity));
    const next = from + tasks.length;
    return { tasks, ...(next < asked.length && { cursor: String(next) }) };
  }

  /** How many waits have not returned. */
  waiting = 0;

  async wait(query: TaskWait): Promise<WaitOutcome> {
    this.waiting++;
    const tasks = () => query.taskIds.map((id) => this.#known(id));
    tasks();
    query.onProgress?.('Waiting for 1 task');
    const changed = await new Promise<string[]>((resolve) => {
      const timer = setTimeout(() => finish([]), query.timeoutMs);
      const subscription = this.onDidChange((id) => query.taskIds.includes(id) && finish([id]));
      const aborted = () => finish([]);
      const finish = (ids: string[]) => {
        clearTimeout(timer);
        subscription.dispose();
        query.signal.removeEventListener('abort', aborted);
        resolve(ids);
      };
      query.signal.addEventListener('abort', aborted);
      if (query.signal.aborted) aborted();
    });
    this.waiting--;
    return { tasks: tasks(), changed, cursor: 'c2' };
  }

  async kill(taskId: string, reason: string): Promise<TaskRecord> {
    this.#mustRun(taskId);
    this.change(taskId, { status: 'killed', reason });
    return this.#known(taskId);
  }

  async respond(taskId: string, answer: DecisionAnswer): Promise<TaskRecord> {
    this.#mustRun(taskId);
    this.answers.push(answer);
    this.change(taskId, { status: 'running', decisions: [] });
    return this.#known(taskId);
  }

  async message(taskId: string, message: unknown): Promise<TaskRecord> {
    this.messages.push(message);
    return this.#known(taskId);
  }

  async output(query: OutputQuery): Promise<OutputPage> {
    const task = this.#known(query.taskId);
    this.outputs.push(query);
    const text = this.text.slice(-query.maxBytes);
    return { task, text, cursor: '1:2', more: false, totalBytes: this.text.length };
  }

  async taskIds(prefix: string): Promise<string[]> {
    return [...this.records.keys()].filter((id) => id.startsWith(prefix));
  }

  watch(taskId: string): Disposable {
    this.watched.set(taskId, (this.watched.get(taskId) ?? 0) + 1);
    return toDisposable(() => this.watched.set(taskId, (this.watched.get(taskId) ?? 0) - 1));
  }

  #mustRun(taskId: string): void {
    const { status } = this.#known(taskId);
    if (!isFinal(status)) return;
    const message = `Task ${taskId} has ended as ${status}.`;
    throw new BridgeError('TASK_NOT_RUNNING', message, 'Nothing is left to end.');
  }

  #known(taskId: string): TaskRecord {
    const record = this.records.get(taskId);
    if (record !== undefined) return record;
    throw new BridgeError(
      'TASK_NOT_FOUND',
      `No task has the id ${taskId}.`,
      'list_tasks shows the tasks there are.',
    );
  }
}
