// Pure: the options at the end of a dialog, read from the bottom of the screen upwards.
import { isFullRule } from './rule.js';

export interface MenuOption {
  /** The first line of the option's words. */
  readonly label: string;
  /** The key that picks it at once; menus of newer versions have none, and neither has a button. */
  readonly number: number | undefined;
  /** Ticked or not, where several can be chosen. */
  readonly ticked: boolean | undefined;
  /** Further lines below the label: its rest where it was wrapped, and what explains it. */
  readonly description: string;
}

export interface OptionBlock {
  readonly options: readonly MenuOption[];
  readonly marked: number;
  /** The row of the first option. */
  readonly top: number;
}

interface Draft {
  readonly row: number;
  readonly label: string;
  readonly number: number | undefined;
  readonly isMarked: boolean;
  readonly below: string[];
}

const numberedLine = /^(\s*)(❯\s+)?(\d{1,2})\.\s*(\S.*?)\s*$/u;
const plainLine = /^(\s*)(❯\s+)?(\S.*?)\s*$/u;
const box = /^\[( |✔|✓|x)\]\s+/u;
/** A mark stands this far before what it marks. */
const MARK_COLUMNS = 2;

/** The block of options whose last line is row `end`, or undefined. Anything that does not fit makes it none. */
export function readOptions(rows: readonly string[], end: number, columns: number): OptionBlock | undefined {
  const drafts = numberedOptions(rows, end, columns) ?? plainOptions(rows, end);
  const first = drafts?.[0];
  if (drafts === undefined || first === undefined || drafts.length < 2) return undefined;
  const marked = drafts.findIndex((draft) => draft.isMarked);
  if (marked === -1 || drafts.filter((draft) => draft.isMarked).length > 1) return undefined;
  return { options: drafts.map(optionOf), marked, top: first.row };
}

/** Drawn behind an option that was just chosen, while its dialog is on its way out. */
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
 * Options `1.` to `n.`, all numbers in one column and without a gap: whatever a description holds, it cannot pass for
 * an option without breaking the row of numbers, and then the whole block counts for nothing.
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
      // The only rule inside a block stands above its last option (`Chat about this`).
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
): { column: number; number: number; label: string; isMarked: boolean } | undefined {
  const match = numberedLine.exec(text);
  if (match === null) return undefined;
  const [, before = '', mark = '', number = '', label = ''] = match;
  return {
    column: before.length + mark.length,
    number: Number(number),
    label,
    isMarked: mark.length === MARK_COLUMNS,
  };
}

/** `     Submit`, below the last option of a question with several answers. */
function buttonOf({ row, text }: { row: number; text: string }): Draft {
  const [, , mark, label = ''] = plainLine.exec(text) ?? [];
  return { row, label, number: undefined, isMarked: mark !== undefined, below: [] };
}

/** Options without numbers: lines in one column, one of them marked, with nothing between them and a blank line above. */
function plainOptions(rows: readonly string[], end: number): Draft[] | undefined {
  let top = end;
  while (top > 0 && (rows[top - 1] ?? '').trim() !== '') top--;
  const drafts: Draft[] = [];
  const column = columnOfLabel(rows[top] ?? '');
  for (let row = top; row <= end; row++) {
    const text = rows[row] ?? '';
    const [, before = '', mark, label = ''] = plainLine.exec(text) ?? [];
    if (columnOfLabel(text) === column) {
      drafts.push({ row, label, number: undefined, isMarked: mark !== undefined, below: [] });
    } else if (row === end && drafts.every((draft) => box.test(draft.label))) {
      drafts.push({ row, label, number: undefined, isMarked: mark !== undefined, below: [] });
    } else if (mark === undefined && before.length > column) {
      drafts.at(-1)?.below.push(label);
    } else {
      return undefined;
    }
  }
  return drafts;
}

function columnOfLabel(text: string): number {
  const [, before = '', mark = ''] = plainLine.exec(text) ?? [];
  return before.length + mark.length;
}

function indentOf(text: string): number {
  const [, before = '', mark = ''] = plainLine.exec(text) ?? [];
  return before.length + mark.length;
}
