// Pure.
import type { Prompt } from '../mcp/prompt.js';
import type { TaskService } from '../tasks/task-service.js';

/** What prompts may use: they read, and change nothing. */
export interface PromptServices {
  readonly tasks: () => Promise<TaskService>;
  /** Whether the server offers the tool of that name: the setting `toolsets` may leave it out. */
  readonly offers: (tool: string) => boolean;
}

/** A prompt over this project's services. */
export type BridgePrompt = Prompt<PromptServices>;

/** Those of `names` that the server offers, as a list; undefined without one. */
export function offeredNames(
  names: readonly string[],
  between: string,
  { offers }: Pick<PromptServices, 'offers'>,
): string | undefined {
  const offered = names.filter(offers);
  return offered.length === 0 ? undefined : offered.join(between);
}

/**
 * The request of a prompt as it is shown, and the argument behind it. Claude Code (2.1.197 and 2.1.330) passes the first words of a
 * request as the arguments of a prompt, and leaves out the others. A second argument that `isValue` refuses is such a word; the whole
 * request is then only in the conversation.
 */
export function wholeRequest(
  request: string,
  argument: string | undefined,
  isValue: (text: string) => boolean,
): { readonly request: string; readonly argument: string | undefined } {
  if (argument === undefined || isValue(argument))
    return { request: `<request>\n${request}\n</request>`, argument };
  return {
    request: `<request>\n${request} ${argument} …\n</request>\n\nOnly the first words arrived. The whole request is what the user typed after the name of this command; it may be in <command-args> above. If you do not see it, ask.`,
    argument: undefined,
  };
}
