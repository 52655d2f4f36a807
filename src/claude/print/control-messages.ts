// Pure: the messages to the CLI's stdin, one JSON object per line.
import type { Question, SessionAnswer } from '../session.js';
import { permissionAnswer } from '../tool-requests.js';
import type { ToolInput } from './stream-line.js';

/** A permission request that is not answered yet. */
export interface PendingPermission {
  readonly tool: string;
  readonly input: ToolInput;
  readonly questions?: readonly Question[];
  readonly toolUseId?: string | undefined;
}

/** The hooks of a session that arrive as control requests: also where settings, or a policy, forbid those of settings (2.1.330). */
const HOOKED = ['PreToolUse', 'InstructionsLoaded', 'SubagentStart'] as const;

/** Opens the control protocol; sent before the first message. */
export function initializeRequest(requestId: string): string {
  const hooks = Object.fromEntries(HOOKED.map((name) => [name, [{ hookCallbackIds: [name] }]]));
  return line({
    type: 'control_request',
    request_id: requestId,
    request: { subtype: 'initialize', hooks },
  });
}

/** The output of a hook. */
export function hookResponse(requestId: string, output: Readonly<Record<string, unknown>>): string {
  return controlResponse(requestId, output);
}

/** Asks for what the session has used, without a scan of the transcripts of a week. `detached`: later messages do not wait for it. */
export function usageRequest(requestId: string, how: 'detached' | 'in order'): string {
  const request = {
    subtype: 'get_usage',
    skip_behaviors: true,
    ...(how === 'detached' && { detached: true }),
  };
  return line({ type: 'control_request', request_id: requestId, request });
}

export function interruptRequest(requestId: string): string {
  return line({ type: 'control_request', request_id: requestId, request: { subtype: 'interrupt' } });
}

export function userMessage(text: string): string {
  return line({
    type: 'user',
    message: { role: 'user', content: [{ type: 'text', text }] },
    parent_tool_use_id: null,
    session_id: '',
  });
}

/** The answer to a `can_use_tool` request. */
export function permissionResponse(
  requestId: string,
  asked: PendingPermission,
  answer: SessionAnswer,
): string {
  return controlResponse(requestId, permissionAnswer(asked, answer, asked.input));
}

/** Refuses an unknown request, so that the CLI does not wait for an answer. */
export function refusalResponse(requestId: string, subtype: string): string {
  return line({
    type: 'control_response',
    response: { subtype: 'error', request_id: requestId, error: `The bridge does not handle ${subtype}.` },
  });
}

function controlResponse(requestId: string, response: Readonly<Record<string, unknown>>): string {
  return line({
    type: 'control_response',
    response: { subtype: 'success', request_id: requestId, response },
  });
}

function line(message: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify(message)}\n`;
}
