// Pure: what Claude Code asks about a call, what it is answered, and what the bridge says of the call before.
import type { HookOf, KnownHookEvent } from './hooks/hook-event.js';
import type { Question, SessionAnswer, SessionGuard, SessionRequest } from './session.js';
import { parseQuestions, toolSummary } from './tool-calls.js';

type Input = Readonly<Record<string, unknown>>;
export type PermissionRequestEvent = HookOf<'PermissionRequest'>;

/** More than the calls of which a session waits at the same time. */
const MAX_REASONS = 200;

/** The request of a call. Paths inside `project` are shown relative to it. */
export function toolRequest(
  asked: Pick<SessionRequest, 'requestId' | 'tool' | 'input' | 'folder' | 'why'>,
  project: string,
): SessionRequest {
  const { tool, input } = asked;
  const questions = tool === 'AskUserQuestion' ? parseQuestions(input) : undefined;
  return {
    ...asked,
    kind: questions !== undefined ? 'question' : tool === 'ExitPlanMode' ? 'plan' : 'permission',
    summary: toolSummary(tool, input, project),
    options: questions?.[0]?.options.map((option) => option.label) ?? [],
    ...(questions !== undefined && { questions }),
    source: 'exact',
  };
}

/** The request of a `PermissionRequest` hook. */
export function requestOf(requestId: string, event: PermissionRequestEvent, project: string): SessionRequest {
  const { tool_name: tool, tool_input: input, cwd: folder } = event;
  return toolRequest({ requestId, tool, input, folder }, project);
}

/** The output of a `PermissionRequest` hook for an answer. */
export function hookOutput(
  { tool_name: tool, tool_input: input }: PermissionRequestEvent,
  answer: SessionAnswer,
): Record<string, unknown> {
  const questions = answer.verdict !== 'deny' && answer.answers ? parseQuestions(input) : undefined;
  // When the hook returns the plan's input, the CLI takes the approval and the mode from the hook and closes the dialog itself. An
  // input without fields has no effect, so a plan without text is returned as an empty one. Any other input is left out: it is used as it is.
  const unchanged = tool === 'ExitPlanMode' ? { plan: '', ...input } : undefined;
  return requestOutput(permissionAnswer({ input, questions }, answer, unchanged));
}

/** Ends the turn without asking the model again (2.1.332); of a subagent's request, that of the subagent alone. */
export function interruptOutput(message: string): Record<string, unknown> {
  return requestOutput({ behavior: 'deny', message, interrupt: true });
}

function requestOutput(decision: object): Record<string, unknown> {
  return { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } };
}

/** The output of a `PreToolUse` hook. */
export function toolOutput(
  permissionDecision: 'allow' | 'deny' | 'ask',
  permissionDecisionReason: string,
): Record<string, unknown> {
  return {
    hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision, permissionDecisionReason },
  };
}

/** The CLI's form of an answer; `unchanged`: the input for one that changes none. */
export function permissionAnswer(
  { input, questions }: { readonly input: Input; readonly questions?: readonly Question[] | undefined },
  answer: SessionAnswer,
  unchanged: Input | undefined,
): Record<string, unknown> {
  if (answer.verdict === 'deny') return { behavior: 'deny', message: answer.message };
  const { mode } = answer;
  // An agent may send answers, and annotations to them, with its question.
  const updatedInput = questions
    ? { questions: input['questions'], answers: answersByQuestion(questions, answer.answers ?? {}) }
    : (answer.input ?? unchanged);
  return {
    behavior: 'allow',
    ...(updatedInput !== undefined && { updatedInput }),
    // A yes for the session grants none: what Claude Code suggests is wider than what was asked, and the bridge remembers it.
    ...(mode !== undefined && { updatedPermissions: [{ type: 'setMode', mode, destination: 'session' }] }),
  };
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

/** Asks the guard of a session what it says of its hooks, and remembers why it had Claude Code ask: the request that follows does not say it. */
export class GuardedCalls {
  readonly #guard: SessionGuard;
  readonly #onNotice: (text: string) => void;
  readonly #reasons = new Map<string, string>();

  constructor(guard: SessionGuard, onNotice: (text: string) => void) {
    this.#guard = guard;
    this.#onNotice = onNotice;
  }

  /** The output of a hook other than a request; empty leaves it to Claude Code. */
  async output(event: KnownHookEvent): Promise<Input> {
    if (event.hook_event_name === 'InstructionsLoaded') this.#guard.instructedBy(event.file_path);
    if (event.hook_event_name === 'SubagentStart') this.#guard.startedAgent(event.agent_id);
    if (event.hook_event_name !== 'PreToolUse') return {};
    const { tool_use_id: id, tool_name: tool, tool_input: input, permission_mode: cliMode } = event;
    const { verdict, reason, notice } = await this.#guard.beforeTool({ id, tool, input, cliMode });
    if (notice !== undefined) this.#onNotice(notice);
    if (verdict === 'pass') return {};
    if (verdict === 'ask') this.#reasons.set(JSON.stringify([tool, input]), reason);
    const [oldest] = this.#reasons.keys();
    if (this.#reasons.size > MAX_REASONS && oldest !== undefined) this.#reasons.delete(oldest);
    return toolOutput(verdict, reason);
  }

  /** The reason for the same call; it is dropped afterwards. */
  takeReason(tool: string, input: Input): string | undefined {
    const key = JSON.stringify([tool, input]);
    const reason = this.#reasons.get(key);
    this.#reasons.delete(key);
    return reason;
  }
}
