import {
  ProtocolErrorCode,
  type JSONRPCMessage,
  type MessageExtraInfo,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/server';
import { clientIn, type ClientInfo } from './client-name.js';

/** The first request of a client that speaks the modern era. */
const PROBE = 'server/discover';

/** Answers the probe of some clients as a server does that knows the legacy era alone. */
export class LegacyWire implements Transport {
  readonly #inner: Transport;
  readonly #isLegacy: (client: ClientInfo) => boolean;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;

  constructor(inner: Transport, isLegacy: (client: ClientInfo) => boolean) {
    this.#inner = inner;
    this.#isLegacy = isLegacy;
  }

  async start(): Promise<void> {
    this.#inner.onmessage = (message, extra) => {
      if (!this.#refuses(message)) this.onmessage?.(message, extra);
    };
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onclose = () => this.onclose?.();
    await this.#inner.start();
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    return this.#inner.send(message, options);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  #refuses(message: JSONRPCMessage): boolean {
    if (!('method' in message) || !('id' in message) || message.method !== PROBE) return false;
    const client = clientIn(message);
    if (client === undefined || !this.#isLegacy(client)) return false;
    const error = { code: ProtocolErrorCode.MethodNotFound, message: 'Method not found' };
    this.#inner
      .send({ jsonrpc: '2.0', id: message.id, error })
      .catch((why: unknown) => this.onerror?.(why instanceof Error ? why : new Error(String(why))));
    return true;
  }
}
