// Pure.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../base/clock.js';

/** A link is opened at once; its code is worth nothing after this. */
const CODE_LIFE_MS = 60_000;
const SECRET_BYTES = 32;
/** Tells codes of one millisecond apart. */
const NONCE_BYTES = 12;
/** When it is over, in milliseconds since the epoch, with the nonce; then what signs them. */
const CODE = /^((\d{13})[\w-]{16})([\w-]{43})$/;

/** A code for one page, valid once and for a minute. Each program that can read the token of the board can make one. */
export function linkCode(token: string, nowMs: number): string {
  const until = `${nowMs + CODE_LIFE_MS}`.padStart(13, '0');
  const body = `${until}${randomBytes(NONCE_BYTES).toString('base64url')}`;
  return `${body}${signature(token, body)}`;
}

/** Who may use a board: one token for all pages, given for a code that is used once. */
export class Access {
  readonly #clock: Clock;
  readonly #token: string;
  /** Codes that were used, and until when they would be good. */
  readonly #used = new Map<string, number>();

  constructor(clock: Clock, token: string) {
    this.#clock = clock;
    this.#token = token;
  }

  /** The token for a code, once; undefined for any other. */
  exchange(code: string): string | undefined {
    const [, body = '', until = '', signed = ''] = CODE.exec(code) ?? [];
    const leftMs = Number(until) - this.#clock.now();
    if (!isSame(signed, signature(this.#token, body)) || leftMs < 0 || leftMs > CODE_LIFE_MS)
      return undefined;
    for (const [used, untilMs] of this.#used) if (untilMs < this.#clock.now()) this.#used.delete(used);
    if (this.#used.has(code)) return undefined;
    this.#used.set(code, Number(until));
    return this.#token;
  }

  /** Shows that this board has the token of a page. It is for one port: no program at another one can pass it on. */
  proof(nonce: string, port: number): string {
    return createHmac('sha256', this.#token).update(`${port} ${nonce}`).digest('base64');
  }

  isToken(token: string): boolean {
    return isSame(token, this.#token);
  }
}

export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** No proof is one: that begins with a port. */
function signature(token: string, body: string): string {
  return createHmac('sha256', token).update(`code ${body}`).digest('base64url');
}

/** Compares in constant time. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
