// Pure: what a decision is about, for the person who answers it.
import { shownLine, shownCharacters, countOf } from '../../base/text.js';
import type { Decision } from '../task.js';

/** What a person reads before a yes. What is cut off cannot be allowed. */
const MAX_ASKED_CHARS = 8_000;
/** Before each further line of a value: it does not look like a field. */
const CONTINUED = '    ';
/** Before a line that replaces blank ones: it does not look like a line of a value. */
const FOLDED = '  ';
const MAX_BLANK_LINES = 2;
const BLANK_LINE = /^\s*$/;
/** More than any indentation: what follows would be moved out of sight. */
const LONG_GAP = /\s{101,}/g;

/**
 * The whole input of a request: one field after the other, a lone one without its name. Invisible characters are shown as
 * escapes, and long runs of blanks and blank lines as their number. Undefined when there is more than can be shown.
 */
export function wholeRequest({ input, input_is_cut }: Decision): string | undefined {
  if (input_is_cut === true) return undefined;
  const fields = Object.entries(input);
  const shown = fields
    .flatMap(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return linesOf(fields.length === 1 ? '' : `${shownLine(name)}: `, text);
    })
    .join('\n');
  return shown.length > MAX_ASKED_CHARS ? undefined : shown;
}

/** The tool, where the input follows; else what a dialog of Claude Code asks. */
export function headline({ kind, tool, summary }: Decision): string {
  return kind === 'permission' || kind === 'plan' ? tool : summary;
}

function linesOf(label: string, text: string): string[] {
  const [first = '', ...more] = shownCharacters(text).split('\n').map(withoutLongGaps);
  const lines = [`${label}${first}`];
  let blanks: string[] = [];
  const endBlanks = (): void => {
    if (blanks.length > MAX_BLANK_LINES) lines.push(`${FOLDED}… ${countOf(blanks.length)} blank lines …`);
    else lines.push(...blanks);
    blanks = [];
  };
  for (const line of more) {
    if (BLANK_LINE.test(line)) blanks.push(`${CONTINUED}${line}`);
    else {
      endBlanks();
      lines.push(`${CONTINUED}${line}`);
    }
  }
  endBlanks();
  return lines;
}

function withoutLongGaps(line: string): string {
  return line.replace(LONG_GAP, (gap) => ` … ${countOf(gap.length)} blanks … `);
}
