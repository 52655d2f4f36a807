// Pure.
import type { Server } from '@modelcontextprotocol/server';
import type { ClientInfo } from './wire/client-name.js';

const CAPABILITY = 'claude/channel';
const METHOD = 'notifications/claude/channel';

/**
 * A channel of Claude Code: a notification becomes a message to its model. The model gets it only where the person has named this
 * server with `--channels` or `--dangerously-load-development-channels`; Claude Code does not report that.
 */
export class CallerChannel {
  /** Whether a client may have channels. */
  readonly isFor: (client: ClientInfo) => boolean;
  #server: Server | undefined;

  constructor(isFor: (client: ClientInfo) => boolean) {
    this.isFor = isFor;
  }

  /** From here on `server` is the connection to the client; called before it is opened. */
  connect(server: Server): void {
    this.#server = server;
    server.registerCapabilities({ experimental: { [CAPABILITY]: {} } });
  }

  /** `meta`: attributes of the message; their names are made of letters, digits and underscores. Rejects when nothing is connected. */
  async send(content: string, meta: Readonly<Record<string, string>>): Promise<void> {
    if (this.#server === undefined)
      throw new Error('no client of the legacy era of the protocol is connected');
    await this.#server.notification({ method: METHOD, params: { content, meta: { ...meta } } });
  }
}
