import type { TaskService } from '../tasks/task-service.js';

/** What prompts may use: they look, and change nothing. */
export interface PromptServices {
  readonly tasks: Pick<TaskService, 'get' | 'list'>;
}
