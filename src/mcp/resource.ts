// Pure: a thing that clients can read, follow and complete by its URI.
import type { Disposable } from '../base/lifecycle.js';

export interface Resource<Services> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  /** A fixed URI, or one that ends in a single variable: `logs://{task_id}`. */
  readonly uri: string;
  /** True for a text that teaches a model how to use the tools. */
  readonly isSkill?: boolean;
  /** True for a page that a client shows inside the chat; listed for such clients alone. */
  readonly isApp?: boolean;
  /** `variable` is empty for a fixed URI. Throws BridgeError when there is no such thing. */
  read(variable: string, services: Services): Promise<string>;
  /** Resolves when there is such a thing to follow. Throws BridgeError as `read`; left out, there always is. */
  readonly check?: (variable: string, services: Services) => Promise<unknown>;
  /** Things behind a template worth showing in a list, newest first. */
  readonly list?: (
    services: Services,
  ) => Promise<readonly { readonly variable: string; readonly title: string }[]>;
  /** Values of the variable that begin with `prefix`, best first. */
  readonly complete?: (prefix: string, services: Services) => Promise<readonly string[]>;
  /** Calls `changed` whenever reading would give something else; until disposed. */
  readonly watch?: (variable: string, services: Services, changed: () => void) => Disposable;
}

/** The variable at the end of a template. */
export const VARIABLE = /\{([a-z_]+)\}$/;

export interface FoundResource<Services> {
  readonly resource: Resource<Services>;
  readonly variable: string;
}

/** Which resource a URI means; fixed ones go before templates. */
export function findResource<Services>(
  resources: readonly Resource<Services>[],
  uri: string,
): FoundResource<Services> | undefined {
  const fixed = resources.find((resource) => resource.uri === uri);
  if (fixed !== undefined) return { resource: fixed, variable: '' };
  for (const resource of resources) {
    const start = VARIABLE.exec(resource.uri)?.index ?? Infinity;
    const isBehind = uri.length > start && uri.startsWith(resource.uri.slice(0, start));
    if (isBehind) return { resource, variable: uri.slice(start) };
  }
  return undefined;
}
