// Pure: another machine, as the surfaces of this one see it.
import type { Disposable, Event } from '../base/lifecycle.js';
import type { FarIdentity, LinkMethods } from './link-protocol.js';

/** What is known of the line to a machine. */
export type MachineState =
  | { readonly how: 'closed' }
  | { readonly how: 'opening' }
  | { readonly how: 'live'; readonly far: FarIdentity }
  /** What runs there runs on, as far as is known. Times are milliseconds since the epoch, of this machine's clock. */
  | { readonly how: 'unverifiable'; readonly sinceMs: number; readonly why: string };

/** How a request is made. */
export interface LinkRequest {
  readonly signal?: AbortSignal | undefined;
  /** The whole time, with opening the line; 40 s when left out. */
  readonly timeoutMs?: number | undefined;
  /** Sent again on a new line when the answer was lost: for reads, and for what has a request id. */
  readonly repeats: boolean;
}

/** The answer of a far tool: its structured content, or its error as a BridgeError that is thrown. */
export type FarAnswer = Readonly<Record<string, unknown>>;

/** A stream of pieces in both directions, which ends with the line. */
export interface Channel extends Disposable {
  readonly onData: Event<Uint8Array>;
  readonly onClose: Event<string>;
  send(data: Uint8Array): void;
  /** The next data may come; a reader that is behind calls it when it has taken what came. */
  taken(count: number): void;
}

/**
 * One machine of the setting `machines`, over one line that opens with the first request. Each method throws MACHINE_UNREACHABLE with
 * `data.sent` `not_sent` or `unknown` while the line is cut, and the far side's own errors.
 */
export interface Machine {
  readonly name: string;
  readonly state: MachineState;
  readonly onState: Event<MachineState>;
  call<K extends keyof LinkMethods>(
    name: K,
    args: LinkMethods[K]['args'],
    request: LinkRequest,
  ): Promise<LinkMethods[K]['value']>;
  callTool(name: string, args: object, request: LinkRequest): Promise<FarAnswer>;
  openChannel(what: LinkMethods['channel.open']['args']): Promise<Channel>;
  /** Added to a time of the far clock, in milliseconds, it is one of this clock; 0 before the first answer. */
  readonly clockOffsetMs: number;
}

/** The machines of the settings. */
export interface Machines extends Disposable {
  readonly all: readonly Machine[];
  /** Throws MACHINE_NOT_FOUND, which names those that there are. */
  get(name: string): Machine;
}
