// Pure: a decision in words, once for every place that shows it. Words of an agent are given as they are: who shows them escapes them.
import { countOf, shownCharacters, shownLine } from '../../base/text.js';
import type { Decision } from '../task.js';

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

/** What the session does, and what a yes is called. */
const kinds: Readonly<Record<Decision['kind'], { readonly asks: string; readonly yes: string }>> = {
  permission: { asks: 'asks for permission', yes: 'Allow once' },
  question: { asks: 'has a question', yes: 'Answer' },
  plan: { asks: 'has a plan', yes: 'Approve the plan' },
  trust: { asks: 'asks whether to trust the folder', yes: 'Trust the folder' },
  prompt: { asks: 'asks in its terminal', yes: 'Allow once' },
};

/** Of a dialog of Claude Code that is about something else than the folder, by its id. */
const dialogs: Partial<Record<string, (typeof kinds)['trust']>> = {
  'project-mcp-server': {
    asks: 'asks whether to use MCP servers of the project',
    yes: 'Allow',
  },
};

const CUT =
  'This is only the beginning: the log of the task has the whole. It can be denied here, not allowed.';
const deny: Choice = { label: 'Deny', key: 'n', answer: 'deny' };
const session: Choice = { label: 'For this session', key: 's', answer: 'allow_session' };

/** Of a request that a place does not show whole. */
export const onlyDeny: Pick<DescribedDecision, 'cut' | 'choices'> = { cut: CUT, choices: [deny] };

/** `isShownWhole`: whether the place that asks shows all of the input, where it does not show `request`. */
export function described(decision: Decision, isShownWhole?: boolean): DescribedDecision {
  const { kind, tool, summary, is_left, input_is_cut } = decision;
  const { asks, yes } = (kind === 'trust' ? dialogs[tool] : undefined) ?? kinds[kind];
  const request = wholeRequest(decision) ?? null;
  const isWhole = input_is_cut !== true && (isShownWhole ?? request !== null);
  const isPermission = kind === 'permission';
  const once: Choice = { label: yes, key: 'y', answer: 'allow' };
  return {
    asks: isPermission ? `${asks}: ${tool}` : asks,
    headline: isPermission || kind === 'plan' ? tool : summary,
    request,
    ...(isWhole ? { cut: null, choices: isPermission ? [once, session, deny] : [once, deny] } : onlyDeny),
    otherwise: is_left === true ? 'left to its terminal' : 'denied',
  };
}

/** What a person reads before a yes. What is cut off cannot be allowed. */
const MAX_ASKED_CHARS = 8_000;
/** Begins each further line of a value: it does not look like a field. */
const CONTINUED = '\n    ';
/** Begins a line that replaces blank ones: it does not look like a line of a value. */
const FOLDED = '\n  ';
/** Holds the place of `FOLDED`: no text has it after unseen characters were escaped. */
const MARK = '\u0000';
/** Three lines or more. */
const BLANK_LINES = /(?:\n[^\S\n]*){3,}(?=\n|$)/g;
/** More than any indentation: what follows would be moved out of sight. */
const LONG_GAP = /[^\S\n]{101,}/g;

/**
 * The whole input of a request: one field after the other, a lone one without its name. Invisible characters are shown as
 * escapes, and long runs of blanks and blank lines as their number. Undefined when there is more than can be shown.
 */
function wholeRequest({ input, input_is_cut }: Decision): string | undefined {
  if (input_is_cut === true) return undefined;
  const fields = Object.entries(input);
  const values = fields.map(([name, value]) => {
    const text = shownCharacters(typeof value === 'string' ? value : JSON.stringify(value))
      .replace(LONG_GAP, (gap) => ` … ${countOf(gap.length)} blanks … `)
      .replace(BLANK_LINES, (lines) => `\n${MARK}… ${countOf(lines.split('\n').length - 1)} blank lines …`)
      .replaceAll('\n', CONTINUED)
      .replaceAll(CONTINUED + MARK, FOLDED);
    return fields.length === 1 ? text : `${shownLine(name)}: ${text}`;
  });
  const shown = values.join('\n');
  return shown.length > MAX_ASKED_CHARS ? undefined : shown;
}
