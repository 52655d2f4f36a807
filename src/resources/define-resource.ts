import { TASK_ID_PATTERN } from '../base/ids.js';
import { type Disposable, DisposableStore } from '../base/lifecycle.js';
import { knownTaskId } from '../mcp/known-task-id.js';
import type { Resource } from '../mcp/resource.js';
import type { Config } from '../config/schema.js';
import type { ReceiptService } from '../tasks/receipt/task-receipts.js';
import type { TaskService } from '../tasks/task-service.js';

/** What resources may use; services are built by the first read that asks for them. */
export interface ResourceServices {
  readonly tasks: () => Promise<TaskService>;
  readonly receipts: () => Promise<ReceiptService>;
  /** The text of a page that clients show inside a chat, by its file. */
  readonly appPage: (file: string) => Promise<string>;
  /** The settings in force. */
  readonly config: Config;
}

/** Defines a resource over this project's services. */
export function defineResource(resource: Resource<ResourceServices>): Resource<ResourceServices> {
  return resource;
}

/** The id of a task as a URI holds it. Throws TASK_NOT_FOUND for text that cannot be one. */
export function taskIdOf(variable: string): string {
  return knownTaskId(variable, 'The resource tasks://active and the tool list_tasks list the tasks.');
}

/** Throws TASK_NOT_FOUND. */
export async function checkTask(variable: string, { tasks }: ResourceServices): Promise<void> {
  await (await tasks()).get(taskIdOf(variable));
}

/** Follows one task; an id that no task can have never changes. */
export function watchTask(variable: string, services: ResourceServices, changed: () => void): Disposable {
  if (!TASK_ID_PATTERN.test(variable)) return new DisposableStore();
  return watchTasks(variable, services, (taskId) => taskId === variable && changed());
}

/** Follows a task, or all that are `active`, from the moment the task service is there until disposed. */
export function watchTasks(
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
