// Pure.
import { promptDefiner } from '../mcp/prompt.js';
import type { TaskService } from '../tasks/task-service.js';

/** What prompts may use: they read, and change nothing. */
export interface PromptServices {
  readonly tasks: () => Promise<TaskService>;
  /** Whether the server offers the tool of that name: the setting `toolsets` may leave it out. */
  readonly offers: (tool: string) => boolean;
}

/** Defines a prompt over this project's services. */
export const definePrompt = promptDefiner<PromptServices>();

/** Those of `names` that the server offers, as a list; undefined without one. */
export function offeredNames(
  names: readonly string[],
  between: string,
  { offers }: Pick<PromptServices, 'offers'>,
): string | undefined {
  const offered = names.filter(offers);
  return offered.length === 0 ? undefined : offered.join(between);
}
