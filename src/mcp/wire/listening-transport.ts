import {
  SUBSCRIPTION_ID_META_KEY,
  type JSONRPCMessage,
  type MessageExtraInfo,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

/** What a server sees of its wire: all messages, and of `subscriptions/listen` of the modern era what concerns resources. */
export interface Listening {
  /** The SDK has granted it. `owner` names the request. */
  started(owner: string, uris: readonly string[]): void;
  ended(owner: string): void;
  /** Called with each message of the client. */
  received(message: JSONRPCMessage): void;
  /** Each message to the client, as it is sent. */
  sent(message: JSONRPCMessage): JSONRPCMessage;
}

/**
 * The SDK answers `subscriptions/listen` before any server sees it, and has no hook for it. What it granted shows in its
 * acknowledgement, and the end in the client's cancellation.
 */
export class ListeningTransport implements Transport {
  readonly #inner: Transport;
  readonly #listening: Listening;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;

  constructor(inner: Transport, listening: Listening) {
    this.#inner = inner;
    this.#listening = listening;
  }

  async start(): Promise<void> {
    this.#inner.onmessage = (message, extra) => {
      this.#listening.received(message);
      const owner = endedOwner(message);
      if (owner !== undefined) this.#listening.ended(owner);
      this.onmessage?.(message, extra);
    };
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onclose = () => this.onclose?.();
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    await this.#inner.send(this.#listening.sent(message), options);
    const granted = grantedUris(message);
    if (granted !== undefined) this.#listening.started(granted.owner, granted.uris);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }
}

const requestId = z.union([z.string(), z.number()]);

const acknowledged = z.object({
  params: z.object({
    notifications: z.object({ resourceSubscriptions: z.array(z.string()).optional() }),
    _meta: z.object({ [SUBSCRIPTION_ID_META_KEY]: requestId }),
  }),
});

function grantedUris(message: JSONRPCMessage): { owner: string; uris: readonly string[] } | undefined {
  if (!('method' in message) || message.method !== 'notifications/subscriptions/acknowledged')
    return undefined;
  const { data } = acknowledged.safeParse(message);
  if (data === undefined) return undefined;
  const { notifications, _meta } = data.params;
  return { owner: ownerOf(_meta[SUBSCRIPTION_ID_META_KEY]), uris: notifications.resourceSubscriptions ?? [] };
}

const cancelled = z.object({ params: z.object({ requestId }) });

function endedOwner(message: JSONRPCMessage): string | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  const { data } = cancelled.safeParse(message);
  return data === undefined ? undefined : ownerOf(data.params.requestId);
}

/** `1` and `"1"` are two requests. */
function ownerOf(id: string | number): string {
  return `listen ${JSON.stringify(id)}`;
}
