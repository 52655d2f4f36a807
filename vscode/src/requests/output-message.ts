import type { EditorMessageOf } from '../../../src/editor/protocol.js';
import type { BridgeTerminal } from '../terminals/bridge-terminal.js';

/** What a terminal printed after a cursor. */
export function outputMessage(
  id: string,
  { facts, output, queue }: BridgeTerminal,
  cursor: number,
  maxChars: number,
): EditorMessageOf<'output'> {
  const piece = output.read(cursor, maxChars);
  return {
    type: 'output',
    id,
    terminalId: facts.terminalId,
    ...piece,
    more: piece.cursor < output.end,
    state: queue.isBusy ? 'busy' : 'idle',
    execution: queue.execution ?? null,
  };
}
