import type { TaskService } from '../tasks/task-service.js';

/** What prompts may use: they read, and change nothing. */
export interface PromptServices {
  readonly tasks: () => Promise<TaskService>;
}
