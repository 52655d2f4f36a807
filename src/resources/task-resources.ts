import { isTaskId } from '../base/ids.js';
import { type Disposable, DisposableStore } from '../base/lifecycle.js';
import { knownTaskId } from '../mcp/known-task-id.js';
import { fittingPage } from '../mcp/answers.js';
import type { BridgeResource, ResourceServices } from './define-resource.js';

/** As much as a log may grow to before its escaped form could reach the limit of a message; read in steps of half. */
const MAX_LOG_BYTES = 800_000;
const MIN_LOG_BYTES = 1_024;
/** What a client's menu shows without scrolling for long. */
const LISTED_LOGS = 20;

export const activeTasks: BridgeResource = {
  name: 'active-tasks',
  title: 'Active tasks',
  description: 'List of currently active tasks',
  mimeType: 'application/json',
  uri: 'tasks://active',
  read: async (_variable, { tasks }) => {
    const { tasks: active } = await (await tasks()).list({ status: 'active' });
    const summaries = active.map((record) => ({
      id: record.task_id,
      status: record.status,
      projectPath: record.project_path,
      createdAt: record.created_at,
      elapsedSeconds: Math.floor(record.elapsed_seconds),
    }));
    return JSON.stringify({ tasks: summaries }, undefined, 2);
  },
  watch: (_variable, services, changed) => watchTasks('active', services, () => changed()),
};

/** What both resources of one task have. */
const oneTask: Pick<BridgeResource, 'complete' | 'check' | 'watch'> = {
  complete: async (prefix, { tasks }) => (await tasks()).taskIds(prefix),
  check: async (variable, { tasks }) => (await tasks()).get(taskIdOf(variable)),
  // An id that no task can have never changes.
  watch: (variable, services, changed) => {
    const id = decoded(variable);
    return isTaskId(id)
      ? watchTasks(id, services, (taskId) => taskId === id && changed())
      : new DisposableStore();
  },
};

export const taskLog: BridgeResource = {
  name: 'logs',
  title: 'Log of a task',
  description: 'The full log of a task as readable text',
  mimeType: 'text/plain',
  uri: 'logs://{task_id}',
  read: async (variable, services) => {
    const taskId = taskIdOf(variable);
    const tasks = await services.tasks();
    const page = await fittingPage({
      maxBytes: MAX_LOG_BYTES,
      minBytes: MIN_LOG_BYTES,
      read: (maxBytes) => tasks.output({ taskId, view: 'log', maxBytes }),
      text: ({ text }) => text,
    });
    const bytes = Buffer.byteLength(page.text);
    const left = (page.totalBytes ?? bytes) - bytes;
    if (left <= 0) return page.text;
    return `[The first ${left} bytes are left out. get_task_output with task_id ${taskId}, view log and cursor 0 reads from the beginning.]\n${page.text}`;
  },
  list: async ({ tasks }) => {
    const { tasks: newest } = await (await tasks()).list({ limit: LISTED_LOGS });
    return newest.map((record) => ({ variable: record.task_id, title: `Log of ${record.prompt_summary}` }));
  },
  ...oneTask,
};

export const taskRecord: BridgeResource = {
  name: 'tasks',
  title: 'A task',
  description:
    'Everything known about a task: record, decisions, files, times, and its receipt once it has ended',
  mimeType: 'application/json',
  uri: 'tasks://{task_id}',
  read: async (variable, { tasks, receipts }) => {
    const record = await (await tasks()).get(taskIdOf(variable));
    // The mark is the secret by which processes are found; the other three mean something to the bridge alone.
    const { process_mark: _mark, keeper: _keeper, agent: _agent, socket_path: _socket, ...shown } = record;
    const receipt = await (await receipts()).receiptOf(record, new AbortController().signal);
    return JSON.stringify({ ...shown, receipt }, undefined, 2);
  },
  ...oneTask,
};

/** The id of a task as a URI holds it. Throws TASK_NOT_FOUND for text that cannot be one. */
function taskIdOf(variable: string): string {
  return knownTaskId(
    decoded(variable),
    'The resource tasks://active and the tool list_tasks list the tasks.',
  );
}

/** A client that fills in the template writes the slash of `gpu/task_…` so. */
function decoded(variable: string): string {
  return variable.replace(/%2f/i, '/');
}

/** Follows a task, or all that are `active`, from the moment the task service is there until disposed. */
function watchTasks(
  watched: string,
  { tasks }: ResourceServices,
  changed: (taskId: string) => void,
): Disposable {
  const store = new DisposableStore();
  tasks().then(
    (service) => {
      store.add(service.onDidChange(changed));
      store.add(service.watch(watched));
    },
    // Without the service nothing changes, and reading the resource says why there is none.
    () => undefined,
  );
  return store;
}
