// Pure: the messages to the CLI's stdin, one JSON object per line.

/** The hooks of a session that arrive as control requests: also where settings, or a policy, forbid those of settings (2.1.330). */
const HOOKED = ['PreToolUse', 'InstructionsLoaded', 'SubagentStart'];

/** Opens the control protocol; sent before the first message. */
export const INITIALIZE = {
  subtype: 'initialize',
  hooks: Object.fromEntries(HOOKED.map((name) => [name, [{ hookCallbackIds: [name] }]])),
};
export const INTERRUPT = { subtype: 'interrupt' };
/** Asks for what the session has used, without a scan of the transcripts of a week. */
export const GET_USAGE = { subtype: 'get_usage', skip_behaviors: true };

export function controlRequest(requestId: string, request: object): string {
  return line({ type: 'control_request', request_id: requestId, request });
}

/** The answer to a request of the CLI. */
export function controlResponse(requestId: string, response: object): string {
  return line({
    type: 'control_response',
    response: { subtype: 'success', request_id: requestId, response },
  });
}

/** Refuses an unknown request, so that the CLI does not wait for an answer. */
export function refusalResponse(requestId: string, subtype: string): string {
  const error = `The bridge does not handle ${subtype}.`;
  return line({ type: 'control_response', response: { subtype: 'error', request_id: requestId, error } });
}

export function userMessage(text: string): string {
  return line({
    type: 'user',
    message: { role: 'user', content: [{ type: 'text', text }] },
    parent_tool_use_id: null,
    session_id: '',
  });
}

function line(message: object): string {
  return `${JSON.stringify(message)}\n`;
}
