// Pure: what a decision is about, for the person who answers it.
import { shownCharacters } from '../approvals/unseen-characters.js';
import type { Decision } from './task.js';

/** What a person reads before a yes. What is cut off cannot be allowed. */
const MAX_ASKED_CHARS = 8_000;

/**
 * The whole input of a request: one field after the other, a lone one without its name. Characters that nobody sees are shown as
 * escapes. Undefined when there is more than can be shown.
 */
export function wholeRequest({ input, input_is_cut }: Decision): string | undefined {
  if (input_is_cut === true) return undefined;
  const fields = Object.entries(input).map(
    ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
  );
  const [first, ...rest] = fields;
  const text =
    first !== undefined && rest.length === 0
      ? first[1]
      : fields.map(([name, value]) => `${name}: ${value}`).join('\n');
  const shown = shownCharacters(text);
  return shown.length > MAX_ASKED_CHARS ? undefined : shown;
}

/** The tool, where the input follows; else what a dialog of Claude Code asks. */
export function headline({ kind, tool, summary }: Decision): string {
  return kind === 'permission' || kind === 'plan' ? tool : summary;
}
