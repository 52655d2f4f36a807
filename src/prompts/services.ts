// Pure.
import type { TaskService } from '../tasks/task-service.js';

/** What prompts may use: they read, and change nothing. */
export interface PromptServices {
  readonly tasks: () => Promise<TaskService>;
  /** Whether the server offers the tool of that name: the setting `toolsets` may leave it out. */
  readonly offers: (tool: string) => boolean;
}
