import type {
  JSONRPCMessage,
  MessageExtraInfo,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/server';

/** Who watches the messages of a transport. */
export interface Tap {
  sent(message: JSONRPCMessage): void;
  /** True when the message is dealt with, and goes no further. */
  received(message: JSONRPCMessage): boolean;
  closed(): void;
}

/** A transport that shows every message to a tap: before it is handed in, and after it went out. */
export class TappedTransport implements Transport {
  readonly #inner: Transport;
  readonly #tap: Tap;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;

  constructor(inner: Transport, tap: Tap) {
    this.#inner = inner;
    this.#tap = tap;
  }

  async start(): Promise<void> {
    this.#inner.onmessage = (message, extra) => {
      if (!this.#tap.received(message)) this.onmessage?.(message, extra);
    };
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onclose = () => {
      this.#tap.closed();
      this.onclose?.();
    };
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    await this.#inner.send(message, options);
    this.#tap.sent(message);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }
}
