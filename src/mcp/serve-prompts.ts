import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server';
import type { Logger } from '../base/logger.js';
import { errorText, reported, timed } from './call-tool.js';
import { nearestName } from '../base/input.js';
import type { Prompt } from './prompt.js';

export interface PromptHost<Services> {
  readonly prompts: readonly Prompt<Services>[];
  readonly services: Services;
  readonly logger: Logger;
}

/** Answers `prompts/list` and `prompts/get`. */
export function servePrompts<Services>(server: Server, host: PromptHost<Services>): void {
  server.setRequestHandler('prompts/list', () => ({
    prompts: host.prompts.map((prompt) => {
      const listing = prompt.listing();
      return { ...listing, arguments: listing.arguments.map((one) => ({ ...one })) };
    }),
  }));
  server.setRequestHandler('prompts/get', async ({ params }) => {
    const prompt = knownPrompt(host.prompts, params.name);
    const text = await timed(host.logger, `prompts/get ${prompt.name}`, () =>
      spoken(prompt, params.arguments ?? {}, host),
    );
    return {
      description: prompt.listing().description,
      messages: [{ role: 'user', content: { type: 'text', text } }],
    };
  });
}

/** What `completion/complete` answers for an argument of a prompt. Throws ProtocolError when there is none. */
export async function completePrompt<Services>(
  host: PromptHost<Services>,
  name: string,
  argument: { readonly name: string; readonly value: string },
): Promise<readonly string[]> {
  const prompt = knownPrompt(host.prompts, name);
  const values = prompt.complete(argument.name, argument.value, host.services);
  if (values !== undefined) return values;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `The prompt ${name} has no argument ${JSON.stringify(argument.name)}.`,
  );
}

function knownPrompt<Services>(prompts: readonly Prompt<Services>[], name: string): Prompt<Services> {
  const prompt = prompts.find((one) => one.name === name);
  if (prompt !== undefined) return prompt;
  const names = prompts.map((one) => one.name);
  const near = nearestName(name, names);
  const hint = near === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${near}?`;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt ${JSON.stringify(name)}. ${hint}`);
}

async function spoken<Services>(
  prompt: Prompt<Services>,
  args: Readonly<Record<string, string>>,
  { services, logger }: PromptHost<Services>,
): Promise<string> {
  try {
    return await prompt.text(args, services);
  } catch (thrown) {
    const error = reported(thrown, `prompts/get ${prompt.name}`, prompt.name, { logger });
    const isCallers = error.code === 'INVALID_ARGUMENTS' || error.code === 'TASK_NOT_FOUND';
    throw new ProtocolError(
      isCallers ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
      errorText(error),
    );
  }
}
