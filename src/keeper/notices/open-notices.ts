import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import type { TaskSpec } from '../../tasks/task-spec.js';
import { showDesktopNotice } from './desktop-notice.js';
import { TaskNotices, type NoticeRoute, type TaskNoticesOptions } from './task-notices.js';
import { Webhook } from './webhook.js';

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
    const webhook = new Webhook({ url, secretFile, clock });
    routes.push({ name: 'webhook', send: (notice, signal) => webhook.post(notice, signal) });
  }
  return new TaskNotices({ task, kinds: on, routes, clock, logger });
}

function definedOf(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
