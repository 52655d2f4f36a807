// Pure.
import type { Clock } from '../base/clock.js';
import { DisposableStore, toDisposable, type Disposable } from '../base/lifecycle.js';
import { findResource, type Resource } from './resource.js';

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
  readonly #resources: readonly Resource<Services>[];
  readonly #services: Services;
  readonly #clock: Clock;
  readonly #send: (uri: string) => void;
  readonly #watched = new Map<string, Watched>();

  constructor(
    resources: readonly Resource<Services>[],
    services: Services,
    clock: Clock,
    send: (uri: string) => void,
  ) {
    this.#resources = resources;
    this.#services = services;
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
    const found = findResource(this.#resources, uri);
    if (found === undefined) return 'unknown';
    if (this.#watched.size >= MAX_WATCHED) return 'too-many';
    const store = new DisposableStore();
    const changed = this.#coalesced(uri, store);
    const watch = found.resource.watch?.(found.variable, this.#services, changed);
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
