// Pure: a copy of a channel's state, kept up to date by what the board sends. The board's process and the page share this file.

/** What the board sends of a channel. */
export type ChannelMessage<S, A> =
  | { readonly type: 'snapshot'; readonly channel: string; readonly seq: number; readonly state: S }
  | {
      readonly type: 'action';
      readonly channel: string;
      readonly seq: number;
      readonly action: A;
      /** The client that caused it; left out for what no client caused. */
      readonly by?: string;
    }
  /** Actions since the one that was asked for are no longer known: a snapshot follows. */
  | { readonly type: 'gap'; readonly channel: string };

export interface Replica<S> {
  /** Undefined before the first snapshot. */
  readonly state: S | undefined;
  readonly seq: number;
  /** Something is missing: a snapshot follows, or the client must subscribe again. */
  readonly isBehind: boolean;
}

/** No action follows it. */
const NO_SEQ = -1;

export const newReplica: Replica<never> = { state: undefined, seq: 0, isBehind: false };

/** A replica that only a snapshot brings up to date. What was known is shown until then: a page that shows nothing would lose what is typed in it. */
export function outdated<S>({ state }: Replica<S>): Replica<S> {
  return { state, seq: NO_SEQ, isBehind: true };
}

/** The replica after a message. Actions that it has already are ignored, and those after a missing one are not taken. */
export function applyMessage<S, A>(
  replica: Replica<S>,
  message: ChannelMessage<S, A>,
  reduce: (state: S, action: A) => S,
): Replica<S> {
  switch (message.type) {
    case 'snapshot':
      // An old one, sent before actions that arrived by another way.
      if (replica.state !== undefined && !replica.isBehind && message.seq < replica.seq) return replica;
      return { state: message.state, seq: message.seq, isBehind: false };
    case 'gap':
      return outdated(replica);
    case 'action':
      if (replica.state === undefined || message.seq > replica.seq + 1) return { ...replica, isBehind: true };
      if (message.seq <= replica.seq) return replica;
      return { state: reduce(replica.state, message.action), seq: message.seq, isBehind: false };
  }
}
