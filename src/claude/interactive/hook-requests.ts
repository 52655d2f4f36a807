import type { SessionAnswer, SessionRequest } from '../session.js';
import { sessionPermissions } from '../session-permissions.js';
import { parseQuestions, toolSummary } from '../tool-summary.js';
import type { KnownHookEvent } from '../hooks/hook-event.js';

export type PermissionRequestEvent = Extract<KnownHookEvent, { hook_event_name: 'PermissionRequest' }>;

/** The request that a `PermissionRequest` hook stands for. */
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

/** The hook's output for an answer. */
export function hookOutput(event: PermissionRequestEvent, answer: SessionAnswer): Record<string, unknown> {
  return { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: decisionOf(event, answer) } };
}

function decisionOf(event: PermissionRequestEvent, answer: SessionAnswer): Record<string, unknown> {
  if (answer.verdict === 'deny') return { behavior: 'deny', message: answer.message };
  if (answer.answers !== undefined) {
    return { behavior: 'allow', updatedInput: { ...event.tool_input, answers: answer.answers } };
  }
  if (answer.verdict === 'allow_session') {
    const updatedPermissions = sessionPermissions(event.permission_suggestions ?? []);
    if (updatedPermissions.length > 0) return { behavior: 'allow', updatedPermissions };
  }
  // With its own input given back, the CLI takes the plan's approval from the hook and closes the dialog itself.
  if (event.tool_name === 'ExitPlanMode' && typeof event.tool_input['plan'] === 'string') {
    return { behavior: 'allow', updatedInput: event.tool_input };
  }
  return { behavior: 'allow' };
}
