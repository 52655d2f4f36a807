import type { ServerMessage } from '../../../src/board/protocol.js';

/** The version of the protocol was agreed on with the welcome: the kind of a message is all there is to check. */
export function isServerMessage(value: unknown): value is ServerMessage {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
