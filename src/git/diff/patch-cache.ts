import type { Patch } from './patch.js';

/** Of all patches together. */
const MAX_BYTES = 32_000_000;

/** The patches that were read last, for their further pages: they are of one state of the files, and git is run once. */
export class PatchCache<Facts> {
  readonly #cached = new Map<string, { readonly patch: Patch; readonly facts: Facts }>();
  #bytes = 0;

  /** The patch that was read for `question` and has this mark; undefined when it was evicted. */
  get(question: string, mark: string): { readonly patch: Patch; readonly facts: Facts } | undefined {
    return this.#cached.get(keyOf(question, mark));
  }

  set(question: string, patch: Patch, facts: Facts): void {
    const key = keyOf(question, patch.mark);
    this.delete(question, patch.mark);
    this.#cached.set(key, { patch, facts });
    this.#bytes += patch.bytes.length;
    for (const [oldest, { patch: old }] of this.#cached) {
      if (this.#bytes <= MAX_BYTES || oldest === key) break;
      this.#cached.delete(oldest);
      this.#bytes -= old.bytes.length;
    }
  }

  delete(question: string, mark: string): void {
    const cached = this.#cached.get(keyOf(question, mark));
    if (cached === undefined) return;
    this.#cached.delete(keyOf(question, mark));
    this.#bytes -= cached.patch.bytes.length;
  }
}

function keyOf(question: string, mark: string): string {
  return `${mark}\0${question}`;
}
