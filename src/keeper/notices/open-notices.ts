import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { sleep, type Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import { VERSION } from '../../base/package.js';
import { runProgram } from '../../os/run-program.js';
import type { TaskSpec } from '../../tasks/task-spec.js';
import { type Notice, type NoticeRoute, TaskNotices, type TaskNoticesOptions } from './task-notices.js';

export type NotifySettings = NonNullable<TaskSpec['settings']['notify']>;

export interface OpenNoticesOptions {
  readonly task: TaskNoticesOptions['task'];
  readonly settings: NotifySettings;
  /** Of this process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Sends the notices of one task by the routes of the settings, until it is disposed. */
export function openNotices({ task, settings, env, clock, logger }: OpenNoticesOptions): TaskNotices {
  const { desktop, url, secret_file: secretFile, on } = settings;
  const routes: NoticeRoute[] = [];
  if (desktop) {
    const place = { platform: process.platform, env: definedOf(env), uid: process.getuid?.() };
    routes.push({
      name: 'desktop',
      send: (notice, signal) => showDesktopNotice(notice, place, signal),
    });
  }
  if (url !== null) {
    const webhook = { url, secretFile, clock };
    routes.push({ name: 'webhook', send: (notice, signal) => postWebhook(notice, webhook, signal) });
  }
  return new TaskNotices({ task, kinds: on, routes, clock, logger });
}

function definedOf(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

const DESKTOP_LIMIT_MS = 5_000;
const APP = 'Claude Code Bridge';
/** The words are arguments, so that no text becomes a part of the script. */
const MAC_SCRIPT = `on run argv
display notification (item 2 of argv) with title (item 1 of argv)
end run`;

export interface DesktopOptions {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string>>;
  /** Of this user; undefined where the system has none. */
  readonly uid: number | undefined;
}

/** Shows a notice on the person's desktop: `notify-send`, on macOS `osascript`. Rejects with what is missing, or what the program said. */
export async function showDesktopNotice(
  { title, words }: Pick<Notice, 'title' | 'words'>,
  options: DesktopOptions,
  signal: AbortSignal,
): Promise<void> {
  const [program, ...args] =
    options.platform === 'darwin'
      ? ['osascript', '-e', MAC_SCRIPT, title, words]
      : ['notify-send', `--app-name=${APP}`, '--', withoutMarkup(title), withoutMarkup(words)];
  const end = await runProgram(
    { program, args, cwd: '/', env: withSession(options), signal, timeLimitMs: DESKTOP_LIMIT_MS },
    () => undefined,
  );
  if (end.how === 'missing') throw new Error(`there is no program ${program}`);
  if (end.how === 'exited' && end.code === 0) return;
  const said = end.how === 'exited' || end.how === 'killed' ? end.stderr.trim() : 'it took too long';
  throw new Error(`${program} failed${said === '' ? '' : `: ${said}`}`);
}

/** Desktops read a part of HTML in the text of a notice. */
function withoutMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A server that a client started may not know the bus of the person's session, which lies in a fixed place. */
function withSession({ env, uid, platform }: DesktopOptions): Readonly<Record<string, string>> {
  const bus = `/run/user/${uid}/bus`;
  if (platform === 'darwin' || env['DBUS_SESSION_BUS_ADDRESS'] !== undefined || !existsSync(bus)) return env;
  return { ...env, DBUS_SESSION_BUS_ADDRESS: `unix:path=${bus}` };
}

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
 * Posts a notice as JSON, signed as Standard Webhooks say (https://www.standardwebhooks.com): the header `webhook-signature` holds
 * `v1,` and the base64 of HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`. A secret that begins with `whsec_` is base64.
 * Tries three times. Rejects with the last failure, in words without the address, which may hold a secret.
 */
export async function postWebhook(
  notice: Notice,
  { url, secretFile, clock }: WebhookOptions,
  signal: AbortSignal,
): Promise<void> {
  const secret = secretFile === null ? undefined : keyOf(await readFile(secretFile, 'utf8'));
  const timestamp = new Date(clock.now()).toISOString();
  const body = JSON.stringify({ type: `task.${notice.kind}`, timestamp, data: notice.facts });
  for (let tries = 0; ; tries++) {
    try {
      const seconds = String(Math.floor(clock.now() / 1_000));
      const signature = secret && {
        'webhook-signature': signatureOf(`${notice.id}.${seconds}.${body}`, secret),
      };
      const headers = { 'webhook-id': notice.id, 'webhook-timestamp': seconds, ...signature };
      return await post(url, body, headers, signal);
    } catch (error) {
      const waitMs = RETRY_MS[tries];
      if (error instanceof Refused || waitMs === undefined || signal.aborted) throw error;
      await sleep(clock, waitMs, signal);
      if (signal.aborted) throw error;
    }
  }
}

async function post(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': `claude-code-bridge/${VERSION}`,
      ...headers,
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
