// Pure: a hook's event from the texts that Claude Code fills in.
import { parseHookEvent, type HookEvent } from '../claude/hooks/hook-event.js';

/**
 * The event of a hook whose fields came as texts: what is an object in the hook is JSON here, and what the event does not have is
 * empty. Undefined for anything but an event of a session.
 */
export function hookEventOf(fields: Readonly<Record<string, string>>): HookEvent | undefined {
  const input = parsed(fields['tool_input']);
  // What cannot be read cannot be answered.
  if (input === undefined && (fields['tool_input'] ?? '') !== '') return undefined;
  const { event, session, cwd, tool, prompt, message, error, active } = fields;
  return parseHookEvent({
    hook_event_name: event,
    session_id: session,
    ...filled({ cwd, tool_name: tool, prompt, error, last_assistant_message: message }),
    ...filled({ tool_input: input, stop_hook_active: parsed(active) }),
  });
}

/** Undefined for what is no JSON. */
function parsed(text: string | undefined): unknown {
  if (text === undefined || text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function filled(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''),
  );
}
