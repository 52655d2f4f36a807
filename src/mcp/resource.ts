// Pure.
import type { Disposable } from '../base/lifecycle.js';

/** A thing that clients can read, follow and complete by its URI. */
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

const VARIABLE = /\{([a-z_]+)\}$/;

/** The name of a template's variable, or undefined for a fixed URI. */
export function variableOf(uri: string): string | undefined {
  return VARIABLE.exec(uri)?.[1];
}

/** The URI of one thing behind a template. */
export function expandUri(template: string, variable: string): string {
  return template.replace(VARIABLE, () => variable);
}

/** Which resource a URI means; fixed ones go before templates. */
export function findResource<Services>(
  resources: readonly Resource<Services>[],
  uri: string,
): { readonly resource: Resource<Services>; readonly variable: string } | undefined {
  const fixed = resources.find((resource) => resource.uri === uri);
  if (fixed !== undefined) return { resource: fixed, variable: '' };
  for (const resource of resources) {
    const start = VARIABLE.exec(resource.uri)?.index;
    const isBehind =
      start !== undefined && uri.length > start && uri.startsWith(resource.uri.slice(0, start));
    if (isBehind) return { resource, variable: uri.slice(start) };
  }
  return undefined;
}
