import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server';
import { nearestName } from '../base/input.js';
import { promptText, type Prompt } from './prompt.js';
import { errorText, reported, timed, type Host } from './serve-tools.js';

export interface PromptHost<Services> extends Host<Services> {
  readonly prompts: readonly Prompt<Services>[];
}

/** Answers `prompts/list` and `prompts/get`. */
export function servePrompts<Services>(server: Server, host: PromptHost<Services>): void {
  const { prompts, services, logger, unusable } = host;
  server.setRequestHandler('prompts/list', () => ({
    prompts: prompts.map(({ name, title, description, arguments: args }) => ({
      name,
      title,
      description,
      arguments: [...args],
    })),
  }));
  server.setRequestHandler('prompts/get', async ({ params }) => {
    const prompt = knownPrompt(prompts, params.name);
    const asked = `prompts/get ${prompt.name}`;
    try {
      if (unusable !== undefined) throw unusable;
      const text = await timed(logger, asked, () => promptText(prompt, params.arguments ?? {}, services));
      const content = { type: 'text' as const, text };
      return { description: prompt.description, messages: [{ role: 'user', content }] };
    } catch (thrown) {
      const error = reported(thrown, asked, prompt.name, host);
      const isCallers = error.code === 'INVALID_ARGUMENTS' || error.code === 'TASK_NOT_FOUND';
      const code = isCallers ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
      throw new ProtocolError(code, errorText(error));
    }
  });
}

/** What `completion/complete` answers for an argument of a prompt. Throws ProtocolError when there is none. */
export async function completePrompt<Services>(
  { prompts, services, unusable }: PromptHost<Services>,
  name: string,
  argument: { readonly name: string; readonly value: string },
): Promise<readonly string[]> {
  const prompt = knownPrompt(prompts, name);
  if (unusable !== undefined) return [];
  if (!prompt.arguments.some((one) => one.name === argument.name))
    throw invalid(`The prompt ${name} has no argument ${JSON.stringify(argument.name)}.`);
  return (await prompt.complete?.[argument.name]?.(argument.value, services)) ?? [];
}

function knownPrompt<Services>(prompts: readonly Prompt<Services>[], name: string): Prompt<Services> {
  const prompt = prompts.find((one) => one.name === name);
  if (prompt !== undefined) return prompt;
  const names = prompts.map((one) => one.name);
  const near = nearestName(name, names);
  const hint = near === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${near}?`;
  throw invalid(`Unknown prompt ${JSON.stringify(name)}. ${hint}`);
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
