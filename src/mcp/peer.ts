// What a server serves beside the protocol: the methods of a bridge on another machine.
import type { Server } from '@modelcontextprotocol/server';
import type { Logger } from '../base/logger.js';
import type { JsonObject } from './answers.js';
import { quietly } from './serve-tools.js';

/** Methods and notifications that are not the protocol's, for one client that knows them. */
export interface PeerHost {
  /** Among the extensions of `initialize`. */
  extension(): { readonly name: string; readonly value: Readonly<Record<string, string | number | null>> };
  /** What it throws reaches the client with its message, and with its `data` if it has some. */
  request(method: string, params: unknown, signal: AbortSignal): Promise<JsonObject>;
  notice(method: string, params: unknown): void;
  /** Called once, with what reaches the client. */
  connect(send: (method: string, params: JsonObject) => void): void;
  /** Resolves when nothing is under way that changes something: a client that is gone may ask the next server what became of it. */
  settled(): Promise<void>;
  /** The client sends something all the time: after so long without a byte it is gone. */
  readonly silenceMs: number;
}

/** Serves what no other handler does. */
export function servePeer(server: Server, peer: PeerHost, logger: Logger): void {
  const { name, value } = peer.extension();
  server.registerCapabilities({ extensions: { [name]: { ...value } } });
  server.fallbackRequestHandler = async ({ method, params }, { mcpReq }) => ({
    ...(await peer.request(method, params, mcpReq.signal)),
  });
  server.fallbackNotificationHandler = async ({ method, params }) => peer.notice(method, params);
  peer.connect((method, params) =>
    quietly(server.notification({ method, params: { ...params } }), `${method} could not be sent`, logger),
  );
}
