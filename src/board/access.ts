// Pure.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../base/clock.js';

/** A link is opened at once; its code is worth nothing after this. */
const CODE_LIFE_MS = 60_000;
const SECRET_BYTES = 32;
/** Codes that were made and not used yet; the oldest is dropped. */
const MAX_CODES = 20;

/** Who may use a board: one token for all pages, given for a code that is used once. */
export class Access {
  readonly #clock: Clock;
  readonly #token: string;
  /** Digests of codes, and until when they are good. */
  readonly #codes = new Map<string, number>();

  constructor(clock: Clock, token: string) {
    this.#clock = clock;
    this.#token = token;
  }

  /** A code for one page, good for a minute. */
  createCode(): string {
    const code = newSecret();
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
    return until !== undefined && until >= this.#clock.monotonicMs() ? this.#token : undefined;
  }

  /** Shows that this board has the token of a page. It is for one port: no program at another one can pass it on. */
  proof(nonce: string, port: number): string {
    return createHmac('sha256', this.#token).update(`${port} ${nonce}`).digest('base64');
  }

  /** Compares in constant time. */
  isToken(token: string): boolean {
    return timingSafeEqual(Buffer.from(digest(token)), Buffer.from(digest(this.#token)));
  }
}

export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
