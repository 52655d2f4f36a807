// Pure.
import { z } from 'zod';

/** What a task remembers of them; Linux takes no longer path. */
const remembered = z.string().max(4_096);
const common = {
  /** Any program of the agent can post a hook, so anything but a UUID is refused. */
  session_id: z.guid(),
  cwd: z.string().optional(),
  permission_mode: z.string().optional(),
  /** Of the hooks of a subagent. */
  agent_id: z.string().optional(),
};
const tool = { tool_name: z.string(), tool_input: z.record(z.string(), z.unknown()).default({}) };

function event<const Name extends string, Shape extends z.ZodRawShape>(name: Name, shape: Shape) {
  return z.object({ ...common, hook_event_name: z.literal(name) }).extend(shape);
}

/**
 * The hook bodies that Claude Code posts (seen in 2.1.197 and 2.1.330); fields the bridge does not use are dropped.
 * An event with another name becomes `other`: a newer CLI may send more than we know.
 */
const known = z.discriminatedUnion('hook_event_name', [
  event('UserPromptSubmit', { prompt: z.string().default('') }),
  event('PreToolUse', { ...tool, tool_use_id: z.string().optional() }),
  event('PermissionRequest', tool),
  event('PostToolUse', {
    ...tool,
    tool_use_id: z.string().optional(),
    tool_response: z.unknown().optional(),
    duration_ms: z.number().optional(),
  }),
  event('PostToolUseFailure', {
    ...tool,
    tool_use_id: z.string().optional(),
    error: z.string().default(''),
  }),
  event('Notification', { message: z.string().default(''), notification_type: z.string().optional() }),
  event('Stop', {
    last_assistant_message: z.string().nullish(),
    background_tasks: z.array(z.unknown()).default([]),
    /** True when such a hook has continued the turn before. */
    stop_hook_active: z.boolean().optional(),
  }),
  event('StopFailure', {
    error: z.string().default('unknown'),
    last_assistant_message: z.string().nullish(),
  }),
  event('SessionEnd', { reason: z.string().default('') }),
  /** A file that instructs: `CLAUDE.md`, a rule, or what one of them imports. */
  event('InstructionsLoaded', { file_path: remembered }),
  event('SubagentStart', { agent_id: remembered }),
  /** An MCP server asks the person of the session, by a form or an address to open. */
  event('Elicitation', {
    mcp_server_name: z.string(),
    message: z.string().default(''),
    url: z.string().optional(),
    requested_schema: z
      .object({
        properties: z.record(z.string(), z.unknown()).optional(),
        required: z.array(z.string()).optional(),
      })
      .optional(),
  }),
]);
const other = z.object({ ...common, hook_event_name: z.string() });

export type KnownHookEvent = z.infer<typeof known>;
/** The events with these names. */
export type HookOf<Name extends KnownHookEvent['hook_event_name']> = Extract<
  KnownHookEvent,
  { hook_event_name: Name }
>;
export type HookEvent =
  KnownHookEvent | { readonly hook_event_name: 'other'; readonly session_id: string; readonly name: string };

/** The events that the CLI is configured to post: all that are known. */
export const hookEventNames = known.options.map(({ shape }) => shape.hook_event_name.value);

/** Returns undefined for anything but a hook body. */
export function parseHookEvent(body: unknown): HookEvent | undefined {
  const event = known.safeParse(body);
  if (event.success) return event.data;
  const unknownEvent = other.safeParse(body);
  if (!unknownEvent.success) return undefined;
  return {
    hook_event_name: 'other',
    session_id: unknownEvent.data.session_id,
    name: unknownEvent.data.hook_event_name,
  };
}
