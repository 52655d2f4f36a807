import { oneLine } from '../../../src/base/text/text.js';
import type { EditorRequest } from '../../../src/editor/protocol.js';

const MAX_COMMAND_CHARS = 300;

/** A request in the log: never a token, and never what is typed, which may be a password. */
export function loggedRequest(request: EditorRequest): string {
  const parts: string[] = [request.type, request.id];
  if ('terminalId' in request && request.terminalId !== undefined) parts.push(request.terminalId);
  if (request.type === 'hello') parts.push(request.client);
  if (request.type === 'execute') parts.push(request.command, ...(request.arguments ?? []));
  if (request.type === 'input') parts.push(`(${request.text.length} characters)`);
  return oneLine(parts.join(' '), MAX_COMMAND_CHARS);
}
