// Pure: a call of a tool in a hook.
import type { ToolUsed } from '../tool-events.js';
import type { ToolOutcome } from '../transcript-entry.js';
import type { KnownHookEvent } from './hook-event.js';

type ToolHook = Extract<
  KnownHookEvent,
  { hook_event_name: 'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure' }
>;

export function callIn({ tool_use_id, tool_name, tool_input }: ToolHook): ToolUsed {
  return { id: tool_use_id, tool: tool_name, input: tool_input };
}

export type EndedHook = Exclude<ToolHook, { hook_event_name: 'PreToolUse' }>;

/** How the call ended, as its hook tells it. */
export function outcomeOf(event: EndedHook): Omit<ToolOutcome, 'id'> {
  return event.hook_event_name === 'PostToolUse'
    ? { isError: false, text: '', details: event.tool_response }
    : { isError: true, text: event.error, details: undefined };
}
