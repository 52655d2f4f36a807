// Pure: the messages to the CLI's stdin, one JSON object per line.
import type { Question, SessionAllowance, SessionAnswer } from '../session.js';
import { grantedPermissions } from '../session-permissions.js';
import type { ToolInput } from './stream-json.js';

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
  return controlResponse(
    requestId,
    answer.verdict === 'deny' ? { behavior: 'deny', message: answer.message } : allowance(asked, answer),
  );
}

/** Refuses an unknown request, so that the CLI does not wait for an answer. */
export function refusalResponse(requestId: string, subtype: string): string {
  return line({
    type: 'control_response',
    response: { subtype: 'error', request_id: requestId, error: `The bridge does not handle ${subtype}.` },
  });
}

function allowance(asked: PendingPermission, answer: SessionAllowance) {
  // An agent may send answers, and annotations to them, with its question.
  const updatedInput = asked.questions
    ? {
        questions: asked.input['questions'],
        answers: answersByQuestion(asked.questions, answer.answers ?? {}),
      }
    : (answer.input ?? asked.input);
  const updatedPermissions = grantedPermissions(answer);
  if (updatedPermissions.length === 0) return { behavior: 'allow', updatedInput };
  return { behavior: 'allow', updatedInput, updatedPermissions };
}

/** The CLI expects answers keyed by the question's text; callers may use the header instead. */
function answersByQuestion(questions: readonly Question[], answers: Readonly<Record<string, string>>) {
  const given = new Map(Object.entries(answers));
  return Object.fromEntries(
    questions.flatMap(({ question, header }) => {
      const answer = given.get(question) ?? given.get(header);
      return answer === undefined ? [] : [[question, answer]];
    }),
  );
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
