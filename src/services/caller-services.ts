import { systemClock } from '../base/system-clock.js';
import { lazily } from '../base/lazily.js';
import type { Disposable } from '../base/lifecycle.js';
import { CallerCalls } from '../caller/caller-calls.js';
import { gateFault, type CallerClient } from '../caller/caller-gate.js';
import type { CallerRoute } from '../caller/caller-notices.js';
import { inboxAddressIn } from '../caller/inbox-address.js';
import { CallerChannel } from '../mcp/caller-channel.js';
import type { BridgeOptions } from './options.js';
import type { TaskServices } from './task-services.js';

/** What tells the model of the client of its tasks, and what that needs of the server. */
export interface CallerServices {
  readonly calls: CallerCalls;
  readonly channel: CallerChannel | undefined;
  readonly onClient: (client: CallerClient) => void;
  /** Follows the tasks of the client from here on. */
  readonly follow: (services: TaskServices) => Promise<Disposable>;
}

/** Undefined when the setting is off. Nothing is sent before the client has said who it is. */
export function createCallerServices(options: BridgeOptions): CallerServices | undefined {
  const { config, logger } = options;
  if (config.notify_caller === 'off') return undefined;
  const calls = new CallerCalls(systemClock);
  const channel =
    config.notify_caller === 'channel'
      ? new CallerChannel((client) => gateFault(client) === undefined)
      : undefined;
  let route: CallerRoute | undefined;
  return {
    calls,
    channel,
    onClient: (client) => {
      const made = routeTo(client, channel, options);
      if (typeof made === 'string') logger.info(`notify_caller does nothing here: ${made}`);
      else route = made;
    },
    follow: async ({ tasks, stateDir }) => {
      const { CallerNotices } = await import('../caller/caller-notices.js');
      return new CallerNotices({
        tasks,
        ...(config.inside_tasks === 'start' && {
          childrenOf: (taskId: string) => stateDir.childrenOf(taskId),
        }),
        calls,
        route: () => route,
        clock: systemClock,
        logger,
      });
    },
  };
}

/** The way to the model of a client, or in words why there is none. */
function routeTo(
  client: CallerClient,
  channel: CallerChannel | undefined,
  { env }: BridgeOptions,
): CallerRoute | string {
  const fault = gateFault(client);
  if (fault !== undefined) return fault;
  if (channel !== undefined)
    return { send: ({ text, taskId, status }) => channel.send(text, { task_id: taskId, status }) };
  const address = inboxAddressIn(env);
  if (address === undefined) return 'Claude Code has not named its messaging socket to this server';
  const inbox = lazily(async () => {
    const { SessionInbox } = await import('../caller/session-inbox.js');
    return new SessionInbox({ address });
  });
  return { send: async ({ text }) => (await inbox()).send({ text, when: 'later' }) };
}
