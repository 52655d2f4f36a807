import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
} from '@modelcontextprotocol/server';
import { BridgeError } from '../base/errors.js';
import type { Clock } from '../base/clock.js';
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
  const { resources } = host;
  server.setRequestHandler('resources/list', async (_request, context) => {
    const hasApps = new Client(server, context).showsApps;
    const fixed = resources
      .filter(({ uri, isApp }) => variableOf(uri) === undefined && (hasApps || isApp !== true))
      .map((one) => ({ uri: one.uri, ...factsOf(one) }));
    const behind = await Promise.all(resources.map((resource) => listedBehind(resource, host.services)));
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
    const text = await timed(host.logger, `resources/read ${uri}`, () =>
      readText(found.resource, found.variable, uri, host),
    );
    const { mimeType, isApp } = found.resource;
    return { contents: [{ uri, mimeType, text, ...(isApp === true && { _meta: APP_META }) }] };
  });
}

/** A log that grows a hundred times a second is reported four times a second: enough to follow, cheap to send. */
const QUIET_MS = 250;
/** More than any client shows at once; what is above is not followed. */
const MAX_WATCHED = 256;

/** Why a URI is not followed although a client subscribed. */
export type SubscribeOutcome = 'following' | 'unknown' | 'too-many';

interface Watched {
  readonly owners: Set<string>;
  readonly watch: Disposable;
}

/** Who of one connection follows which resource, and the watching that this needs. Owns all of its watches. */
export class ResourceUpdates<Services> implements Disposable {
  readonly #host: ResourcesHost<Services>;
  readonly #clock: Clock;
  readonly #send: (uri: string) => void;
  readonly #watched = new Map<string, Watched>();

  constructor(host: ResourcesHost<Services>, clock: Clock, send: (uri: string) => void) {
    this.#host = host;
    this.#clock = clock;
    this.#send = send;
  }

  /** `owner` is whatever may leave later: a listening request, or the connection itself. */
  subscribe(owner: string, uri: string): SubscribeOutcome {
    const known = this.#watched.get(uri);
    if (known !== undefined) {
      known.owners.add(owner);
      return 'following';
    }
    const found = findResource(this.#host.resources, uri);
    if (found === undefined) return 'unknown';
    if (this.#watched.size >= MAX_WATCHED) return 'too-many';
    const store = new DisposableStore();
    const changed = this.#coalesced(uri, store);
    const watch = found.resource.watch?.(found.variable, this.#host.services, changed);
    if (watch !== undefined) store.add(watch);
    this.#watched.set(uri, { owners: new Set([owner]), watch: store });
    return 'following';
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
  #coalesced(uri: string, store: DisposableStore): () => void {
    let timer: Disposable | undefined;
    let again = false;
    store.add(toDisposable(() => timer?.dispose()));
    const quietOver = () => {
      timer = undefined;
      if (!again) return;
      again = false;
      report();
    };
    const report = () => {
      timer = this.#clock.after(QUIET_MS, quietOver);
      this.#send(uri);
    };
    return () => {
      if (store.isDisposed) return;
      if (timer === undefined) report();
      else again = true;
    };
  }
}

/** Answers `resources/subscribe` and `resources/unsubscribe`. */
export function serveSubscriptions<Services>(
  server: Server,
  updates: ResourceUpdates<Services>,
  { resources, services }: Pick<ResourcesHost<Services>, 'resources' | 'services'>,
): void {
  server.setRequestHandler('resources/subscribe', async ({ params }) => {
    const found = findResource(resources, params.uri);
    await found?.resource.check?.(found.variable, services).catch((thrown: unknown) => {
      // What is there and cannot be read now can be followed: the next read says why.
      if (!(thrown instanceof BridgeError)) throw thrown;
      if (thrown.code === 'TASK_NOT_FOUND') throw new ResourceNotFoundError(params.uri, errorText(thrown));
    });
    const outcome = updates.subscribe(LEGACY_OWNER, params.uri);
    if (outcome === 'unknown') throw new ResourceNotFoundError(params.uri);
    if (outcome === 'too-many') {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidRequest,
        'Too many resources are followed already; unsubscribe some.',
      );
    }
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    updates.unsubscribe(LEGACY_OWNER, params.uri);
    return {};
  });
}

/** What `completion/complete` answers for the variable of a resource template. Throws ProtocolError when there is none. */
export async function completeVariable<Services>(
  { resources, services }: ResourcesHost<Services>,
  template: string,
  argument: { readonly name: string; readonly value: string },
): Promise<readonly string[]> {
  const resource = resources.find(({ uri }) => uri === template);
  if (resource === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Nothing here has that to complete.');
  if (variableOf(resource.uri) !== argument.name) return [];
  return (await resource.complete?.(argument.value, services)) ?? [];
}

function factsOf<Services>({ name, title, description, mimeType, isApp }: Resource<Services>) {
  return { name, title, description, mimeType, ...(isApp === true && { _meta: APP_META }) };
}

async function listedBehind<Services>(resource: Resource<Services>, services: Services) {
  const listed = (await resource.list?.(services)) ?? [];
  return listed.map(({ variable, title }) => ({
    uri: expandUri(resource.uri, variable),
    name: `${resource.name} ${variable}`,
    title,
    mimeType: resource.mimeType,
  }));
}

async function readText<Services>(
  resource: Resource<Services>,
  variable: string,
  uri: string,
  { services, logger }: ResourcesHost<Services>,
): Promise<string> {
  try {
    const text = await resource.read(variable, services);
    if (wireBytes(text) > MAX_REPLY_BYTES) {
      throw new BridgeError(
        'MESSAGE_TOO_LARGE',
        `${uri} is longer than ${MAX_REPLY_BYTES} bytes.`,
        'Read it in parts with get_task_output.',
      );
    }
    return text;
  } catch (thrown) {
    const error = reported(thrown, `resources/read ${resource.uri}`, uri, { logger });
    if (error.code === 'TASK_NOT_FOUND') throw new ResourceNotFoundError(uri, errorText(error));
    throw new ProtocolError(ProtocolErrorCode.InternalError, errorText(error));
  }
}
