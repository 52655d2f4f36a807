import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
} from '@modelcontextprotocol/server';
import type { Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import { DisposableStore, toDisposable, type Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import { Client } from './client.js';
import { errorText, reported, timed } from './call-tool.js';
import { MAX_REPLY_BYTES, wireBytes } from './output-budget.js';
import { expandUri, findResource, variableOf, type Resource } from './resource.js';

export interface ResourcesHost<Services> {
  readonly resources: readonly Resource<Services>[];
  readonly services: Services;
  readonly logger: Logger;
  /** Why nothing works; with it what is fixed is listed, and every read is refused. */
  readonly unusable?: BridgeError | undefined;
}

/**
 * A page of ours loads nothing and needs no permission: without `csp` and `permissions` a client allows it neither, and without
 * `domain` it has no origin of its own.
 */
const APP_META = { ui: { prefersBorder: true } };

/** Owns what a client follows by `resources/subscribe`, which knows no requests that stay open. */
const LEGACY_OWNER = 'connection';

/** Answers `resources/list`, `resources/templates/list` and `resources/read`. */
export function serveResources<Services>(server: Server, host: ResourcesHost<Services>): void {
  const { resources, services, unusable } = host;
  server.setRequestHandler('resources/list', async (_request, context) => {
    const hasApps = new Client(server, context).showsApps;
    const fixed = resources
      .filter(({ uri, isApp }) => variableOf(uri) === undefined && (hasApps || isApp !== true))
      .map((one) => ({ uri: one.uri, ...factsOf(one) }));
    const behind = await Promise.all(
      resources.map(async ({ list, uri, name, mimeType }) => {
        const listed = unusable === undefined ? ((await list?.(services)) ?? []) : [];
        return listed.map(({ variable, title }) => ({
          uri: expandUri(uri, variable),
          name: `${name} ${variable}`,
          title,
          mimeType,
        }));
      }),
    );
    return { resources: [...fixed, ...behind.flat()] };
  });
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: resources
      .filter(({ uri }) => variableOf(uri) !== undefined)
      .map((one) => ({ uriTemplate: one.uri, ...factsOf(one) })),
  }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const found = findResource(resources, uri);
    if (found === undefined) throw new ResourceNotFoundError(uri);
    const { resource, variable } = found;
    const text = await timed(host.logger, `resources/read ${uri}`, () =>
      readText(resource, variable, uri, host),
    );
    const isApp = resource.isApp === true;
    return { contents: [{ uri, mimeType: resource.mimeType, text, ...(isApp && { _meta: APP_META }) }] };
  });
}

function factsOf<Services>({ name, title, description, mimeType, isApp }: Resource<Services>) {
  return { name, title, description, mimeType, ...(isApp === true && { _meta: APP_META }) };
}

async function readText<Services>(
  resource: Resource<Services>,
  variable: string,
  uri: string,
  { services, logger, unusable }: ResourcesHost<Services>,
): Promise<string> {
  try {
    if (unusable !== undefined) throw unusable;
    const text = await resource.read(variable, services);
    if (wireBytes(text) <= MAX_REPLY_BYTES) return text;
    throw new BridgeError(
      'MESSAGE_TOO_LARGE',
      `${uri} is longer than ${MAX_REPLY_BYTES} bytes.`,
      'Read it in parts with get_task_output.',
    );
  } catch (thrown) {
    const error = reported(thrown, `resources/read ${resource.uri}`, uri, { logger });
    if (error.code === 'TASK_NOT_FOUND') throw new ResourceNotFoundError(uri, errorText(error));
    throw new ProtocolError(ProtocolErrorCode.InternalError, errorText(error));
  }
}

/** A log that grows a hundred times a second is reported four times a second: enough to follow, cheap to send. */
const QUIET_MS = 250;
/** More than any client shows at once; what is above is not followed. */
const MAX_WATCHED = 256;

/** Who of one connection follows which resource, and the watching that this needs. Owns all of its watches. */
export class ResourceUpdates<Services> implements Disposable {
  readonly #host: ResourcesHost<Services>;
  readonly #clock: Clock;
  readonly #send: (uri: string) => void;
  readonly #watched = new Map<string, { readonly owners: Set<string>; readonly watch: Disposable }>();

  constructor(host: ResourcesHost<Services>, clock: Clock, send: (uri: string) => void) {
    this.#host = host;
    this.#clock = clock;
    this.#send = send;
  }

  /** `owner` is whatever may leave later: a listening request, or the connection itself. Returns why it is not followed, if so. */
  subscribe(owner: string, uri: string): 'unknown' | 'too-many' | undefined {
    const known = this.#watched.get(uri);
    const found = findResource(this.#host.resources, uri);
    if (found === undefined) return 'unknown';
    if (known === undefined && this.#watched.size >= MAX_WATCHED) return 'too-many';
    const { owners } = known ?? this.#watch(uri, found.resource, found.variable);
    owners.add(owner);
    return undefined;
  }

  /** Leaves one URI, or with none given all that the owner followed. */
  unsubscribe(owner: string, uri?: string): void {
    const left = uri === undefined ? [...this.#watched.keys()] : [uri];
    for (const one of left) {
      const watched = this.#watched.get(one);
      if (watched === undefined || !watched.owners.delete(owner) || watched.owners.size > 0) continue;
      this.#watched.delete(one);
      watched.watch.dispose();
    }
  }

  dispose(): void {
    for (const { watch } of this.#watched.values()) watch.dispose();
    this.#watched.clear();
  }

  /** Reports the first change at once; further ones within the quiet time are reported together at its end. */
  #watch(uri: string, resource: Resource<Services>, variable: string) {
    const watch = new DisposableStore();
    let timer: Disposable | undefined;
    let again = false;
    const report = (): void => {
      again = false;
      timer = this.#clock.after(QUIET_MS, () => {
        timer = undefined;
        if (again) report();
      });
      this.#send(uri);
    };
    const changed = (): void => {
      if (timer === undefined && !watch.isDisposed) report();
      else again = true;
    };
    watch.add(toDisposable(() => timer?.dispose()));
    const watching = resource.watch?.(variable, this.#host.services, changed);
    if (watching !== undefined) watch.add(watching);
    const watched = { owners: new Set<string>(), watch };
    this.#watched.set(uri, watched);
    return watched;
  }
}

/** Answers `resources/subscribe` and `resources/unsubscribe`. */
export function serveSubscriptions<Services>(
  server: Server,
  updates: ResourceUpdates<Services>,
  { resources, services }: Pick<ResourcesHost<Services>, 'resources' | 'services'>,
): void {
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
    const found = findResource(resources, uri);
    await found?.resource.check?.(found.variable, services).catch((thrown: unknown) => {
      // What is there and cannot be read now can be followed: the next read says why.
      if (!(thrown instanceof BridgeError)) throw thrown;
      if (thrown.code === 'TASK_NOT_FOUND') throw new ResourceNotFoundError(uri, errorText(thrown));
    });
    const fault = updates.subscribe(LEGACY_OWNER, uri);
    if (fault === undefined) return {};
    if (fault === 'unknown') throw new ResourceNotFoundError(uri);
    throw new ProtocolError(
      ProtocolErrorCode.InvalidRequest,
      'Too many resources are followed already; unsubscribe some.',
    );
  });
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    updates.unsubscribe(LEGACY_OWNER, params.uri);
    return {};
  });
}

/** What `completion/complete` answers for the variable of a resource template. Throws ProtocolError when there is none. */
export async function completeVariable<Services>(
  { resources, services, unusable }: ResourcesHost<Services>,
  template: string,
  argument: { readonly name: string; readonly value: string },
): Promise<readonly string[]> {
  const resource = resources.find(({ uri }) => uri === template);
  if (resource === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Nothing here has that to complete.');
  if (unusable !== undefined || variableOf(resource.uri) !== argument.name) return [];
  return (await resource.complete?.(argument.value, services)) ?? [];
}
