import type { Config } from '../config/schema.js';
import type { TaskService } from '../tasks/task-service.js';

/** What resources may use. */
export interface ResourceServices {
  readonly tasks: Pick<TaskService, 'get' | 'list' | 'onDidChange' | 'output' | 'taskIds' | 'watch'>;
  /** The settings in force. */
  readonly config: Config;
}
