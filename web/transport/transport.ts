import type { ClientAction, ServerMessage } from '../../src/board/protocol.js';

export type ConnectionState =
  | { readonly how: 'connecting' }
  | { readonly how: 'open' }
  /** It is tried again at this time, in milliseconds since the epoch. */
  | { readonly how: 'lost'; readonly retryAtMs: number; readonly why?: string }
  /** It will not be tried again. */
  | { readonly how: 'refused'; readonly why: string };

/** How a page reaches the board: a WebSocket, the tools of a chat, or an editor. */
export interface Transport {
  onMessage(listener: (message: ServerMessage) => void): void;
  onFrame(listener: (frame: ArrayBuffer) => void): void;
  onState(listener: (state: ConnectionState) => void): void;
  start(): void;
  subscribe(channel: string, since: number | undefined): void;
  unsubscribe(channel: string): void;
  dispatch(id: number, action: ClientAction): void;
  acknowledge(channel: string, bytes: number): void;
}

/** The page and what it speaks with have one protocol: the kind of a message is all there is to check. */
export function isServerMessage(value: unknown): value is ServerMessage {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
