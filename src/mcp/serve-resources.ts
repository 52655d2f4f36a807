import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
} from '@modelcontextprotocol/server';
import type { Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import { DisposableStore, toDisposable, type Disposable } from '../base/lifecycle.js';
import { MAX_REPLY_BYTES, wireBytes } from './answers.js';
import { clientOf } from './client.js';
import { findResource, VARIABLE, type FoundResource, type Resource } from './resource.js';
import { errorText, reported, timed, type Host } from './serve-tools.js';

export interface ResourcesHost<Services> extends Host<Services> {
  readonly resources: readonly Resource<Services>[];
}

/**
 * A page of ours loads nothing and needs no permission: without `csp` and `permissions` a client allows it neither, and without
 * `domain` it has no origin of its own.
 */
const APP_META = { ui: { prefersBorder: true } };
/** Owns what a client follows by `resources/subscribe`, which knows no requests that stay open. */
const LEGACY_OWNER = 'connection';

/** Answers `resources/list`, `resources/templates/list`, `resources/read`, `resources/subscribe` and `resources/unsubscribe`. */
export function serveResources<Services>(
  server: Server,
  host: ResourcesHost<Services>,
  updates: ResourceUpdates<Services>,
): void {
  const { resources, services, logger, unusable } = host;
  server.setRequestHandler('resources/list', async (_request, context) => {
    const { showsApps } = clientOf(server, context);
    const fixed = resources
      .filter(({ uri, isApp }) => !VARIABLE.test(uri) && (showsApps || isApp !== true))
      .map((one) => ({ uri: one.uri, ...factsOf(one) }));
    const behind = resources.map(async ({ list, uri, name, mimeType }) => {
      const listed = unusable === undefined ? ((await list?.(services)) ?? []) : [];
      return listed.map(({ variable, title }) => ({
        uri: uri.replace(VARIABLE, () => variable),
        name: `${name} ${variable}`,
        title,
        mimeType,
      }));
    });
    return { resources: [...fixed, ...(await Promise.all(behind)).flat()] };
  });
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: resources
      .filter(({ uri }) => VARIABLE.test(uri))
      .map((one) => ({ uriTemplate: one.uri, ...factsOf(one) })),
  }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const found = findResource(resources, uri);
    if (found === undefined) throw new ResourceNotFoundError(uri);
    const { mimeType, isApp } = found.resource;
    const text = await timed(logger, `resources/read ${uri}`, () => readText(found, uri, host));
    return { contents: [{ uri, mimeType, text, ...(isApp === true && { _meta: APP_META }) }] };
  });
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
    const message = 'Too many resources are followed already; unsubscribe some.';
    throw new ProtocolError(ProtocolErrorCode.InvalidRequest, message);
  });
  server.setRequestHandler('resources/unsubscribe', ({ params }) => {
    updates.unsubscribe(LEGACY_OWNER, params.uri);
    return {};
  });
}

function factsOf<Services>({ name, title, description, mimeType, isApp }: Resource<Services>) {
  return { name, title, description, mimeType, ...(isApp === true && { _meta: APP_META }) };
}

async function readText<Services>(
  { resource, variable }: FoundResource<Services>,
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
    const found = findResource(this.#host.resources, uri);
    if (found === undefined) return 'unknown';
    let watched = this.#watched.get(uri);
    if (watched === undefined && this.#watched.size >= MAX_WATCHED) return 'too-many';
    watched ??= { owners: new Set<string>(), watch: this.#watch(uri, found) };
    this.#watched.set(uri, watched);
    watched.owners.add(owner);
    return undefined;
  }

  /** Leaves one URI, or with none given all that the owner followed. */
  unsubscribe(owner: string, uri?: string): void {
    for (const [one, { owners, watch }] of this.#watched) {
      if ((uri ?? one) !== one || !owners.delete(owner) || owners.size > 0) continue;
      this.#watched.delete(one);
      watch.dispose();
    }
  }

  dispose(): void {
    for (const { watch } of this.#watched.values()) watch.dispose();
    this.#watched.clear();
  }

  /** Reports the first change at once; further ones within the quiet time are reported together at its end. */
  #watch(uri: string, { resource, variable }: FoundResource<Services>): Disposable {
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
    watch.add(toDisposable(() => timer?.dispose()));
    const watching = resource.watch?.(variable, this.#host.services, () => {
      if (timer === undefined && !watch.isDisposed) report();
      else again = true;
    });
    if (watching !== undefined) watch.add(watching);
    return watch;
  }
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
  if (unusable !== undefined || VARIABLE.exec(resource.uri)?.[1] !== argument.name) return [];
  return (await resource.complete?.(argument.value, services)) ?? [];
}
