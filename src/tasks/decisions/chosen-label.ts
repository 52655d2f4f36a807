import { oneLine } from '../../base/text/text.js';
import type { Question } from '../../claude/session.js';

const CUT = '…';

/**
 * Pure. What was chosen, as the session knows it: replies show options as `label: description`, and who answers with that
 * means the label. Of a question with several choices each one is made a label. Other text stays as it is.
 */
export function chosenLabel(text: string, { options, multiSelect }: Question): string {
  const described = options.flatMap(({ label, description }) =>
    description === undefined || description === '' ? [] : [{ label, full: `${label}: ${description}` }],
  );
  const answer = onOneLine(text);
  if (options.some(({ label }) => label === text.trim())) return text;
  const whole = described.find(({ full }) => isShownAs(answer, onOneLine(full)));
  if (whole !== undefined) return whole.label;
  if (!multiSelect) return text;
  // The longest first: one description may begin as another does.
  const longestFirst = described.toSorted((a, b) => b.full.length - a.full.length);
  return longestFirst.reduce((rest, { label, full }) => rest.replaceAll(full, () => label), text);
}

/** A long option is cut in replies, with a mark at its end. */
function isShownAs(answer: string, full: string): boolean {
  if (answer === full) return true;
  const label = full.slice(0, full.indexOf(': ') + 2);
  return answer.endsWith(CUT) && answer.startsWith(label) && full.startsWith(answer.slice(0, -CUT.length));
}

function onOneLine(text: string): string {
  return oneLine(text.trim(), Number.MAX_SAFE_INTEGER);
}
