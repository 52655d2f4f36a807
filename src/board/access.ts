// Pure.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../base/clock.js';
import { Emitter } from '../base/event.js';

/** A link is opened at once; its code is worth nothing after this. */
const CODE_LIFE_MS = 60_000;
const SECRET_BYTES = 32;
/** A page that is ours never fails; after so many different wrong codes and tokens the board closes. */
const MAX_FAILURES = 10;
/** Codes that were made and not used yet; the oldest is dropped. */
const MAX_CODES = 20;

/** Who may use a board: one token for all pages, given for a code that is used once. Neither is ever on disk. */
export class Access {
  readonly #clock: Clock;
  readonly #token = randomBytes(SECRET_BYTES).toString('base64url');
  /** Digests of codes, and until when they are good. */
  readonly #codes = new Map<string, number>();
  readonly #locks = new Emitter<void>();
  /** Digests of what was wrong: a tab of a board before tries its token again and again, and is no guess. */
  readonly #wrong = new Set<string>();
  /** Fires once, when too many codes or tokens were wrong. */
  readonly onLocked = this.#locks.event;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A code for one page, good for a minute. */
  createCode(): string {
    const code = randomBytes(SECRET_BYTES).toString('base64url');
    this.#codes.set(digest(code), this.#clock.monotonicMs() + CODE_LIFE_MS);
    const [oldest] = this.#codes.keys();
    if (this.#codes.size > MAX_CODES && oldest !== undefined) this.#codes.delete(oldest);
    return code;
  }

  /** The token for a code, once; undefined for any other. */
  exchange(code: string): string | undefined {
    const key = digest(code);
    const until = this.#codes.get(key);
    this.#codes.delete(key);
    if (until !== undefined && until >= this.#clock.monotonicMs() && !this.isLocked) return this.#token;
    this.#failed(key);
    return undefined;
  }

  /** Compares in constant time. */
  isToken(token: string): boolean {
    const given = digest(token);
    const isRight = timingSafeEqual(Buffer.from(given), Buffer.from(digest(this.#token)));
    if (isRight && !this.isLocked) return true;
    this.#failed(given);
    return false;
  }

  get isLocked(): boolean {
    return this.#wrong.size >= MAX_FAILURES;
  }

  #failed(wrong: string): void {
    if (this.isLocked || this.#wrong.has(wrong)) return;
    this.#wrong.add(wrong);
    if (this.isLocked) this.#locks.fire();
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
