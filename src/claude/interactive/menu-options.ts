// Pure: reads the options at the end of a dialog, from the bottom of the screen upwards.
import { isFullRule } from './rule.js';

export interface MenuOption {
  /** The first line of the option's text. */
  readonly label: string;
  /** The key that chooses it directly; menus of newer versions and buttons have none. */
  readonly number: number | undefined;
  /** The state of its check box; undefined without one. */
  readonly ticked: boolean | undefined;
  /** The lines below the label: its wrapped rest, and an explanation. */
  readonly description: string;
}

export interface OptionBlock {
  readonly options: readonly MenuOption[];
  readonly selected: number;
  /** The row of the first option. */
  readonly top: number;
}

interface Draft {
  readonly row: number;
  readonly label: string;
  readonly number: number | undefined;
  readonly isSelected: boolean;
  readonly below: string[];
}

const numberedLine = /^(\s*)(❯\s+)?(\d{1,2})\.\s*(\S.*?)\s*$/u;
const plainLine = /^(\s*)(❯\s+)?(\S.*?)\s*$/u;
const box = /^\[( |✔|✓|x)\]\s+/u;
/** The width of the cursor before the selected option. */
const CURSOR_COLUMNS = 2;

/** The block of options whose last line is row `end`; undefined when anything in it has another form. */
export function readOptions(rows: readonly string[], end: number, columns: number): OptionBlock | undefined {
  const drafts = numberedOptions(rows, end, columns) ?? plainOptions(rows, end);
  const first = drafts?.[0];
  if (drafts === undefined || first === undefined || drafts.length < 2) return undefined;
  const selected = drafts.findIndex((draft) => draft.isSelected);
  if (selected === -1 || drafts.filter((draft) => draft.isSelected).length > 1) return undefined;
  return { options: drafts.map(optionOf), selected, top: first.row };
}

/** Shown after an option that was just chosen, while its dialog closes. */
const chosenTick = /\s*✔$/u;

function optionOf({ label, number, below }: Draft): MenuOption {
  const ticks = box.exec(label);
  return {
    label: label.replace(box, '').replace(chosenTick, ''),
    number,
    ticked: ticks === null ? undefined : ticks[1] !== ' ',
    description: below.join('\n'),
  };
}

/**
 * Options `1.` to `n.`, with all numbers in one column and without a gap. So a description cannot pass for an option: it would break
 * the sequence of numbers, and then the whole block is ignored.
 */
function numberedOptions(rows: readonly string[], end: number, columns: number): Draft[] | undefined {
  const drafts: Draft[] = [];
  let column: number | undefined;
  let below: { row: number; text: string }[] = [];
  let ruleBelow = false;
  for (let row = end; row >= 0; row--) {
    const text = rows[row] ?? '';
    if (text.trim() === '') continue;
    const found = numberedAt(text);
    if (found !== undefined && (column === undefined || found.column === column)) {
      const next = drafts[0]?.number;
      column ??= found.column;
      if (next !== undefined && found.number !== next - 1) return undefined;
      if (below.some((line) => indentOf(line.text) < found.column)) return undefined;
      const button = ruleBelow ? below.at(-1) : undefined;
      if (button !== undefined) drafts.unshift(buttonOf(button));
      const rest = button === undefined ? below : below.slice(0, -1);
      drafts.unshift({ ...found, row, below: rest.map((line) => line.text.trim()) });
      below = [];
      ruleBelow = false;
      if (found.number === 1) return drafts;
      continue;
    }
    if (isFullRule(text, columns)) {
      // The only rule inside a block is above its last option (`Chat about this`).
      if (drafts.length !== 1 || ruleBelow || below.length > 0) return undefined;
      ruleBelow = true;
      continue;
    }
    below.unshift({ row, text });
  }
  return undefined;
}

function numberedAt(
  text: string,
): { column: number; number: number; label: string; isSelected: boolean } | undefined {
  const match = numberedLine.exec(text);
  if (match === null) return undefined;
  const [, before = '', cursor = '', number = '', label = ''] = match;
  return {
    column: before.length + cursor.length,
    number: Number(number),
    label,
    isSelected: cursor.length === CURSOR_COLUMNS,
  };
}

/** `     Submit`, below the last option of a question with several answers. */
function buttonOf({ row, text }: { row: number; text: string }): Draft {
  const [, , cursor, label = ''] = plainLine.exec(text) ?? [];
  return { row, label, number: undefined, isSelected: cursor !== undefined, below: [] };
}

/** Options without numbers: lines in one column, one of them selected, with nothing between them and a blank line above. */
function plainOptions(rows: readonly string[], end: number): Draft[] | undefined {
  let top = end;
  while (top > 0 && (rows[top - 1] ?? '').trim() !== '') top--;
  const drafts: Draft[] = [];
  const column = columnOfLabel(rows[top] ?? '');
  for (let row = top; row <= end; row++) {
    const text = rows[row] ?? '';
    const [, before = '', cursor, label = ''] = plainLine.exec(text) ?? [];
    if (columnOfLabel(text) === column) {
      drafts.push({ row, label, number: undefined, isSelected: cursor !== undefined, below: [] });
    } else if (row === end && drafts.every((draft) => box.test(draft.label))) {
      drafts.push({ row, label, number: undefined, isSelected: cursor !== undefined, below: [] });
    } else if (cursor === undefined && before.length > column) {
      drafts.at(-1)?.below.push(label);
    } else {
      return undefined;
    }
  }
  return drafts;
}

function columnOfLabel(text: string): number {
  const [, before = '', cursor = ''] = plainLine.exec(text) ?? [];
  return before.length + cursor.length;
}

function indentOf(text: string): number {
  const [, before = '', cursor = ''] = plainLine.exec(text) ?? [];
  return before.length + cursor.length;
}
