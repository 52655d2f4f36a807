// Pure: a decision in words, once for every place that shows it. Words of an agent are given as they are: who shows them escapes them.
import type { Decision } from '../task.js';
import { headline, wholeRequest } from './whole-request.js';

/** An answer that a person is offered. */
export interface Choice {
  readonly label: string;
  /** The key that gives it, where keys answer. */
  readonly key: 'y' | 's' | 'n';
  readonly answer: 'allow' | 'allow_session' | 'deny';
}

export interface DescribedDecision {
  /** What the session does, after its name: `asks for permission: Bash`. */
  readonly asks: string;
  /** The tool, where the request follows; else what a dialog of Claude Code asks. */
  readonly headline: string;
  /** The whole request as text: see `wholeRequest`. Null where it is not whole. */
  readonly request: string | null;
  /** Why the request is not whole; null where it is. Then no yes is offered. */
  readonly cut: string | null;
  /** The answers, a yes first. A question's yes takes an answer to each question. */
  readonly choices: readonly Choice[];
  /** What becomes of it without an answer, before its time: `denied`. */
  readonly otherwise: string;
}

const asks: Readonly<Record<Decision['kind'], string>> = {
  permission: 'asks for permission',
  question: 'has a question',
  plan: 'has a plan',
  trust: 'asks whether to trust the folder',
  prompt: 'asks in its terminal',
};

const yes: Readonly<Record<Decision['kind'], string>> = {
  permission: 'Allow once',
  question: 'Answer',
  plan: 'Approve the plan',
  trust: 'Trust the folder',
  prompt: 'Allow once',
};

const CUT =
  'This is only the beginning: the log of the task has the whole. It can be denied here, not allowed.';
const deny: Choice = { label: 'Deny', key: 'n', answer: 'deny' };

/** Of a request that a place does not show whole. */
export const onlyDeny: Pick<DescribedDecision, 'cut' | 'choices'> = { cut: CUT, choices: [deny] };

/** `isShownWhole`: whether the place that asks shows all of the input, where it does not show `request`. */
export function described(decision: Decision, isShownWhole?: boolean): DescribedDecision {
  const { kind, tool, is_left } = decision;
  const request = wholeRequest(decision) ?? null;
  const isWhole = decision.input_is_cut !== true && (isShownWhole ?? request !== null);
  return {
    asks: kind === 'permission' ? `${asks[kind]}: ${tool}` : asks[kind],
    headline: headline(decision),
    request,
    ...(isWhole ? { cut: null, choices: [...yesOf(decision), deny] } : onlyDeny),
    otherwise: is_left === true ? 'left to its terminal' : 'denied',
  };
}

function yesOf({ kind }: Decision): Choice[] {
  const once: Choice = { label: yes[kind], key: 'y', answer: 'allow' };
  const session: Choice = { label: 'For this session', key: 's', answer: 'allow_session' };
  return kind === 'permission' ? [once, session] : [once];
}
