import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const TOKEN_BYTES = 32;
const BEARER = /^Bearer +([\w-]+)$/i;

/** Why a connection is refused, with its HTTP status. */
export interface Refusal {
  readonly status: 401 | 403 | 421;
  readonly why: string;
}

/** The secret of a window: new for each start, and only in its discovery file. */
export class Access {
  readonly token = randomBytes(TOKEN_BYTES).toString('base64url');

  isToken(shown: string): boolean {
    const own = Buffer.from(this.token);
    const other = Buffer.from(shown);
    return other.length === own.length && timingSafeEqual(own, other);
  }

  /** Whether the header shows the token; undefined without one. */
  inHeaders({ authorization }: IncomingHttpHeaders): boolean | undefined {
    if (authorization === undefined) return undefined;
    const shown = BEARER.exec(authorization)?.[1];
    return shown !== undefined && this.isToken(shown);
  }
}

/** A browser says where its page comes from, a program does not; a page may reach this port under another name. */
export function refusalOf({ origin, host }: IncomingHttpHeaders, port: number): Refusal | undefined {
  if (origin !== undefined) return { status: 403, why: 'Pages in a browser may not connect.' };
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`)
    return { status: 421, why: 'This is reached as 127.0.0.1 or localhost alone.' };
  return undefined;
}
