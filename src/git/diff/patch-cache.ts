import type { Patch } from './patch.js';

/** Limit for all patches together. */
const MAX_BYTES = 32_000_000;

/** Caches recent patches, so that all pages of one show the same state of the files and git runs only once. */
export class PatchCache<Facts> {
  readonly #cached = new Map<string, { readonly patch: Patch; readonly facts: Facts }>();
  #bytes = 0;

  /** The patch that was read for `query` and has this hash; undefined when it was evicted. */
  get(query: string, hash: string): { readonly patch: Patch; readonly facts: Facts } | undefined {
    return this.#cached.get(keyOf(query, hash));
  }

  set(query: string, patch: Patch, facts: Facts): void {
    const key = keyOf(query, patch.hash);
    // A map has its keys in the order of their first use: this one is the latest now.
    if (this.#cached.delete(key)) this.#bytes -= patch.bytes.length;
    this.#cached.set(key, { patch, facts });
    this.#bytes += patch.bytes.length;
    for (const [oldest, { patch: old }] of this.#cached) {
      if (this.#bytes <= MAX_BYTES || oldest === key) break;
      this.#cached.delete(oldest);
      this.#bytes -= old.bytes.length;
    }
  }
}

function keyOf(query: string, hash: string): string {
  return `${hash}\0${query}`;
}
