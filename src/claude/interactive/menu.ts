// Pure: reads the menu at the end of a dialog of the CLI.
import { readOptions, type MenuOption } from './menu-options.js';
import { isDashedRule, isFullRule, isRuleLike, isTitledRule } from './rule.js';

/** A list of options with one selected, at the bottom of the screen below a full-width rule. */
export interface Menu {
  /** The lines between the rule and the options: title and text, trimmed, without rules and blank lines. */
  readonly heading: readonly string[];
  /** The part of the heading between the first and the last dashed rule. */
  readonly framed: readonly string[];
  readonly options: readonly MenuOption[];
  readonly selected: number;
  /** Lines below the options, such as `Enter to confirm · Esc to cancel`. */
  readonly footer: readonly string[];
  /** The dialog is taller than the screen: its rule and title are not visible, and `heading` begins in the middle. */
  readonly isCut: boolean;
  /** The row of the first line of the dialog. */
  readonly top: number;
}

const footerPattern = /^ {0,4}(Enter to |Esc to |Space to |ctrl\+g to edit |↑ \d+ more lines?\b)/u;
/** The terminal's cursor is on a row below the last hint. */
const ROWS_BELOW = 1;
/** Newer versions draw a vertical stroke before text of several lines. */
const gutter = /^│ ?/u;

/**
 * The menu at the bottom of the screen, or undefined. It must be exactly where and how the CLI draws it: at the very bottom, with only
 * key hints below, one option selected, and a rule across the whole screen above; the input box is then absent. Text that a program or
 * the agent prints is above the CLI's own bottom region and indented, so it is never read as a menu. Within a dialog the first rule is
 * the CLI's, whatever the text below contains.
 */
export function readMenu(lines: readonly string[], columns: number): Menu | undefined {
  const footer: string[] = [];
  let end = lastFilled(lines, lines.length);
  // A session with a name has it below its dialogs.
  if (isTitledRule(lines[end] ?? '', columns)) end = lastFilled(lines, end);
  while (footerPattern.test(lines[end] ?? '')) {
    footer.unshift((lines[end] ?? '').trim());
    end = lastFilled(lines, end);
  }
  const block = end === -1 ? undefined : readOptions(lines, end, columns);
  if (block === undefined) return undefined;
  const rule = lines.findIndex((line, row) => row < block.top && isFullRule(line, columns));
  const isCut = rule === -1;
  if (isCut && !fillsTheScreen(lines, footer)) return undefined;
  const region = lines.slice(rule + 1, block.top);
  const from = region.findIndex((line) => isDashedRule(line, columns));
  const to = region.findLastIndex((line) => isDashedRule(line, columns));
  return {
    heading: textOf(region),
    framed: from < to ? textOf(region.slice(from + 1, to)) : [],
    options: block.options,
    selected: block.selected,
    footer,
    isCut,
    top: rule + 1,
  };
}

function textOf(rows: readonly string[]): string[] {
  return rows
    .filter((line) => !isRuleLike(line))
    .map((line) => line.trim().replace(gutter, '').trim())
    .filter((line) => line !== '');
}

/** A dialog without a visible rule is trusted only if it fills the screen from the first row to the last. */
function fillsTheScreen(lines: readonly string[], footer: readonly string[]): boolean {
  if (footer.some((line) => line.startsWith('↑'))) return true;
  return (lines[0] ?? '').trim() !== '' && lastFilled(lines, lines.length) >= lines.length - ROWS_BELOW - 1;
}

/** The last row before `end` that is not blank, or -1. */
function lastFilled(lines: readonly string[], end: number): number {
  return lines.slice(0, end).findLastIndex((line) => line.trim() !== '');
}
