import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { sleep, type Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import { VERSION } from '../../base/version.js';
import type { Notice } from './task-notices.js';

/** Between the tries. */
const RETRY_MS = [1_000, 5_000];
const TRY_LIMIT_MS = 5_000;
const HTTP_TIMEOUT = 408;
const HTTP_TOO_MANY = 429;

export interface WebhookOptions {
  readonly url: string;
  /** A file that holds the secret; null sends without a signature. */
  readonly secretFile: string | null;
  readonly clock: Clock;
}

/** A server that did not take a notice, and says that it never will. */
class Refused extends Error {}

/**
 * Posts notices as JSON, signed as Standard Webhooks say (https://www.standardwebhooks.com): the header `webhook-signature` holds
 * `v1,` and the base64 of HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`. A secret that begins with `whsec_` is base64.
 */
export class Webhook {
  readonly #options: WebhookOptions;

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  /** Tries three times. Rejects with the last failure, in words without the address, which may hold a secret. */
  async post(notice: Notice, signal: AbortSignal): Promise<void> {
    const { clock, secretFile } = this.#options;
    const secret = secretFile === null ? undefined : keyOf(await readFile(secretFile, 'utf8'));
    const timestamp = new Date(clock.now()).toISOString();
    const body = JSON.stringify({ type: `task.${notice.kind}`, timestamp, data: notice.facts });
    for (let tries = 0; ; tries++) {
      try {
        return await this.#try(notice.id, body, secret, signal);
      } catch (error) {
        const waitMs = RETRY_MS[tries];
        if (error instanceof Refused || waitMs === undefined || signal.aborted) throw error;
        await sleep(clock, waitMs, signal);
        if (signal.aborted) throw error;
      }
    }
  }

  async #try(id: string, body: string, secret: Buffer | undefined, signal: AbortSignal): Promise<void> {
    const seconds = String(Math.floor(this.#options.clock.now() / 1_000));
    const response = await fetch(this.#options.url, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': `claude-code-bridge/${VERSION}`,
        'webhook-id': id,
        'webhook-timestamp': seconds,
        ...(secret && { 'webhook-signature': signatureOf(`${id}.${seconds}.${body}`, secret) }),
      },
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TRY_LIMIT_MS)]),
    }).catch((error: unknown) => {
      throw new Error(`it cannot be reached: ${causeOf(error)}`);
    });
    await response.body?.cancel();
    const { status, ok } = response;
    if (ok) return;
    const words = `it answered with HTTP status ${status}`;
    if (status < 500 && status !== HTTP_TIMEOUT && status !== HTTP_TOO_MANY) throw new Refused(words);
    throw new Error(words);
  }
}

function signatureOf(signed: string, secret: Buffer): string {
  return `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`;
}

function keyOf(text: string): Buffer {
  const secret = text.trim();
  const prefix = 'whsec_';
  return secret.startsWith(prefix)
    ? Buffer.from(secret.slice(prefix.length), 'base64')
    : Buffer.from(secret, 'utf8');
}

/** `fetch` says only that it failed; its cause says why. */
function causeOf(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
}
