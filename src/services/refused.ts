import type { BridgeError } from '../base/errors.js';
import type { Prompt } from '../mcp/prompt.js';
import type { Resource } from '../mcp/resource.js';

/** The resources as they are listed; reading one throws `error`. */
export function refusedResources<Services>(
  resources: readonly Resource<Services>[],
  error: BridgeError,
): Resource<Services>[] {
  return resources.map(({ name, title, description, mimeType, uri }) => ({
    ...{ name, title, description, mimeType, uri },
    read: () => Promise.reject(error),
  }));
}

/** The prompts as they are listed; getting one throws `error`. */
export function refusedPrompts<Services>(
  prompts: readonly Prompt<Services>[],
  error: BridgeError,
): Prompt<Services>[] {
  return prompts.map((prompt) => ({
    name: prompt.name,
    listing: () => prompt.listing(),
    text: () => Promise.reject(error),
    complete: async () => [],
  }));
}
