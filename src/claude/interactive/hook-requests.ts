import type { SessionAllowance, SessionAnswer, SessionRequest, ToolVerdict } from '../session.js';
import { grantedPermissions } from '../session-permissions.js';
import { parseQuestions, toolSummary } from '../tool-summary.js';
import type { KnownHookEvent } from '../hooks/hook-event.js';

export type PermissionRequestEvent = Extract<KnownHookEvent, { hook_event_name: 'PermissionRequest' }>;

/** The request of a `PermissionRequest` hook. */
export function requestOf(requestId: string, event: PermissionRequestEvent, project: string): SessionRequest {
  const questions = event.tool_name === 'AskUserQuestion' ? parseQuestions(event.tool_input) : undefined;
  return {
    requestId,
    kind: questions !== undefined ? 'question' : event.tool_name === 'ExitPlanMode' ? 'plan' : 'permission',
    tool: event.tool_name,
    input: event.tool_input,
    folder: event.cwd,
    summary: toolSummary(event.tool_name, event.tool_input, project),
    options: questions?.[0]?.options.map((option) => option.label) ?? [],
    ...(questions === undefined ? {} : { questions }),
    source: 'exact',
  };
}

/** The output of a `PreToolUse` hook. */
export function toolOutput({ verdict, reason }: ToolVerdict): Record<string, unknown> {
  if (verdict === 'pass') return {};
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: verdict,
      permissionDecisionReason: reason,
    },
  };
}

/** The hook's output for an answer. */
export function hookOutput(event: PermissionRequestEvent, answer: SessionAnswer): Record<string, unknown> {
  return { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: decisionOf(event, answer) } };
}

/** Ends the turn without asking the model again (2.1.332); of a subagent's request, that of the subagent alone. */
export function interruptOutput(message: string): Record<string, unknown> {
  return {
    hookSpecificOutput: {
      hookEventName: 'PermissionRequest',
      decision: { behavior: 'deny', message, interrupt: true },
    },
  };
}

function decisionOf(event: PermissionRequestEvent, answer: SessionAnswer): Record<string, unknown> {
  if (answer.verdict === 'deny') return { behavior: 'deny', message: answer.message };
  const updatedInput = inputOf(event, answer);
  const updatedPermissions = grantedPermissions(answer);
  return {
    behavior: 'allow',
    ...(updatedInput !== undefined && { updatedInput }),
    ...(updatedPermissions.length > 0 && { updatedPermissions }),
  };
}

/** Undefined when the CLI shall use the input it asked about. */
function inputOf(
  event: PermissionRequestEvent,
  answer: SessionAllowance,
): Readonly<Record<string, unknown>> | undefined {
  // An agent may send answers, and annotations to them, with its question.
  if (answer.answers !== undefined)
    return { questions: event.tool_input['questions'], answers: answer.answers };
  if (answer.input !== undefined) return answer.input;
  // When the hook returns the plan's input, the CLI takes the approval and the mode from the hook and closes the dialog itself. An
  // input without fields has no effect, so a plan without text is returned as an empty one.
  return event.tool_name === 'ExitPlanMode' ? { plan: '', ...event.tool_input } : undefined;
}
