// Pure: reads the menu at the end of a dialog of the CLI, and the rules that the CLI draws.

/** A list of options with one selected, at the bottom of the screen below a full-width rule. */
export interface Menu {
  /** The lines between the rule and the options: title and text, trimmed, without rules and blank lines. */
  readonly heading: readonly string[];
  /** The first line of each option's text, without its check box. */
  readonly options: readonly string[];
  readonly selected: number;
}

interface Draft {
  readonly row: number;
  readonly label: string;
  readonly isSelected: boolean;
}

const footerPattern = /^ {0,4}(Enter to |Esc to |Space to )/u;
const numberedLine = /^(\s*)(❯\s+)?(\d{1,2})\.\s*(\S.*?)\s*$/u;
const plainLine = /^(\s*)(❯\s+)?(\S.*?)\s*$/u;
const checkBox = /^\[( |✔|✓|x)\]\s+/u;
/** Shown after an option that was just chosen, while its dialog closes. */
const chosenTick = /\s*✔$/u;
/** The width of the cursor before the selected option. */
const CURSOR_COLUMNS = 2;

/**
 * The menu at the bottom of the screen, or undefined. It must be exactly where and how the CLI draws it: at the very bottom, with only
 * key hints below, one option selected, and a rule across the whole screen above; the input box is then absent. Text that a program or
 * the agent prints is above the CLI's own bottom region and indented, so it is never read as a menu. Within a dialog the first rule is
 * the CLI's, whatever the text below contains. A dialog that is taller than the screen is none.
 */
export function readMenu(lines: readonly string[], columns: number): Menu | undefined {
  let end = lastFilled(lines, lines.length);
  // A session with a name has it below its dialogs.
  if (isTitledRule(lines[end] ?? '', columns)) end = lastFilled(lines, end);
  while (footerPattern.test(lines[end] ?? '')) end = lastFilled(lines, end);
  if (end === -1) return undefined;
  const drafts = numberedOptions(lines, end, columns) ?? plainOptions(lines, end);
  const top = drafts?.[0]?.row;
  if (drafts === undefined || top === undefined || drafts.length < 2) return undefined;
  if (drafts.filter((draft) => draft.isSelected).length !== 1) return undefined;
  const rule = lines.findIndex((line, row) => row < top && isFullRule(line, columns));
  if (rule === -1) return undefined;
  return {
    heading: lines
      .slice(rule + 1, top)
      .filter((line) => line.trim() !== '' && !isRuleLike(line))
      .map((line) => line.trim()),
    options: drafts.map(({ label }) => label.replace(checkBox, '').replace(chosenTick, '')),
    selected: drafts.findIndex((draft) => draft.isSelected),
  };
}

/** The last row before `end` that is not blank, or -1. */
function lastFilled(lines: readonly string[], end: number): number {
  return lines.slice(0, end).findLastIndex((line) => line.trim() !== '');
}

/**
 * Options `1.` to `n.` whose last line is row `end`, with all numbers in one column and without a gap. So a description cannot pass for
 * an option: it would break the sequence of numbers, and then the whole block is ignored.
 */
function numberedOptions(rows: readonly string[], end: number, columns: number): Draft[] | undefined {
  const drafts: Draft[] = [];
  let first: { readonly number: number; readonly column: number } | undefined;
  let below: string[] = [];
  for (let row = end; row >= 0; row--) {
    const text = rows[row] ?? '';
    if (isFullRule(text, columns)) return undefined;
    const [, before = '', cursor = '', digits, label = ''] = numberedLine.exec(text) ?? [];
    const column = before.length + cursor.length;
    if (digits === undefined || (first !== undefined && column !== first.column)) {
      if (text.trim() !== '') below.push(text);
      continue;
    }
    const number = Number(digits);
    if (first !== undefined && number !== first.number - 1) return undefined;
    if (below.some((line) => columnOfLabel(line) < column)) return undefined;
    drafts.unshift({ row, label, isSelected: cursor.length === CURSOR_COLUMNS });
    if (number === 1) return drafts;
    first = { number, column };
    below = [];
  }
  return undefined;
}

/** Options without numbers: lines in one column, one of them selected, with nothing between them and a blank line above. */
function plainOptions(rows: readonly string[], end: number): Draft[] | undefined {
  const drafts: Draft[] = [];
  let top = end;
  while (top > 0 && (rows[top - 1] ?? '').trim() !== '') top--;
  const column = columnOfLabel(rows[top] ?? '');
  for (let row = top; row <= end; row++) {
    const text = rows[row] ?? '';
    const [, before = '', cursor, label = ''] = plainLine.exec(text) ?? [];
    // A button stands below check boxes, in another column.
    const isButton = row === end && drafts.every((draft) => checkBox.test(draft.label));
    if (columnOfLabel(text) === column || isButton)
      drafts.push({ row, label, isSelected: cursor !== undefined });
    else if (cursor !== undefined || before.length <= column) return undefined;
  }
  return drafts;
}

function columnOfLabel(text: string): number {
  const [, before = '', cursor = ''] = plainLine.exec(text) ?? [];
  return before.length + cursor.length;
}

/** `────…` or `▔▔▔▔…` from the first column to the last: drawn above a dialog and around the input box. */
export function isFullRule(text: string, columns: number): boolean {
  return text.length === columns && /^(─+|▔+)$/u.test(text);
}

/** `──── History 1/1 ───` or `──── name of the session ─`, from the first column to the last. */
export function isTitledRule(text: string, columns: number): boolean {
  return text.length === columns && /^───.*─$/u.test(text);
}

/** Any line that consists only of the strokes of a rule. */
export function isRuleLike(text: string): boolean {
  return /^\s*[─▔╌]{8,}\s*$/u.test(text);
}
