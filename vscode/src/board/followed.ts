// Pure.
import type { ServerMessage } from '../../../src/board/protocol.js';
import { applyMessage, newReplica, type ChannelMessage, type Replica } from '../../../src/board/replica.js';

/** What the follower of a channel gets. */
export interface ChannelListener<S, A> {
  readonly reduce: (state: S, action: A) => S;
  readonly changed: (state: S) => void;
  /** The channel cannot be opened. */
  readonly refused?: (error: Error) => void;
  /** Of a terminal. */
  readonly frames?: {
    /** The number in the head of its frames. */
    readonly streamOf: (state: S) => number;
    /** `kind` is one of `frameKinds`. */
    readonly take: (kind: number, bytes: Buffer) => void;
  };
}

export type OfChannel = Exclude<ServerMessage, { readonly type: 'welcome' | 'result' | 'refused' }>;

/** A channel that is followed. */
export interface Followed {
  /** `isSame`: the board is the one of before, so what is known of the channel is still good. */
  subscribe(isSame: boolean): void;
  take(message: OfChannel): void;
  takeFrame(stream: number, kind: number, bytes: Buffer): void;
  refused(error: Error): void;
}

/** Holds a copy of a channel's state, and subscribes again when something of it is missing. */
export function followChannel<S, A>(
  channel: string,
  listener: ChannelListener<S, A>,
  subscribe: (since: number | undefined) => void,
): Followed {
  let replica: Replica<S> = newReplica;
  const { frames } = listener;
  const isOf = (message: OfChannel): message is OfChannel & ChannelMessage<S, A> =>
    message.channel === channel;
  return {
    subscribe: (isSame) => {
      const { state, seq, isBehind } = replica;
      // The frames of a terminal begin again from 0.
      const isKnown = isSame && state !== undefined && !isBehind && frames === undefined;
      if (!isKnown) replica = newReplica;
      subscribe(isKnown ? seq : undefined);
    },
    take: (message) => {
      if (!isOf(message)) return;
      const before = replica;
      replica = applyMessage(before, message, listener.reduce);
      if (replica.isBehind && !before.isBehind && message.type === 'action')
        subscribe(replica.state === undefined ? undefined : replica.seq);
      if (replica.state !== undefined && replica.state !== before.state) listener.changed(replica.state);
    },
    takeFrame: (stream, kind, bytes) => {
      if (frames !== undefined && replica.state !== undefined && frames.streamOf(replica.state) === stream)
        frames.take(kind, bytes);
    },
    refused: (error) => listener.refused?.(error),
  };
}
