// Pure: reads the menu that a dialog of the CLI ends in.

/** A list of options with one marked, standing at the bottom of the screen below a full-width rule. */
export interface Menu {
  /** What stands between the rule and the options: title and text, trimmed, without blank lines. */
  readonly heading: readonly string[];
  readonly options: readonly MenuOption[];
  readonly marked: number;
  /** Lines below the options, such as `Enter to confirm · Esc to cancel`. */
  readonly footer: readonly string[];
}

export interface MenuOption {
  readonly label: string;
  /** The key that picks it at once; menus of newer versions have none. */
  readonly number: number | undefined;
}

/** Lines of an option's description are indented deeper than its label by at least this much. */
const DESCRIPTION_INDENT = 2;
/** A rule may be indented on both sides, as in the plan dialog of 2.1.330. */
const RULE_SLACK_COLUMNS = 8;
const optionPattern = /^(\s*)(❯?)(\s*)(?:(\d{1,2})\.\s+)?(\S.*)$/u;
const footerPattern = /^\s*(Enter to |Esc to |↑\/↓ )/u;

interface Line {
  readonly row: number;
  readonly text: string;
}

/**
 * The menu at the bottom of the screen, or undefined. It counts only in the place and shape in which the CLI draws it:
 * a rule as wide as the screen above it, exactly one marked option, and nothing but key hints below. Text that a
 * program prints stands above the CLI's own bottom region and can therefore never be read as a menu.
 */
export function readMenu(lines: readonly string[], columns: number): Menu | undefined {
  const filled: Line[] = lines.map((text, row) => ({ row, text })).filter((line) => line.text.trim() !== '');
  const footer: string[] = [];
  while (footerPattern.test(filled.at(-1)?.text ?? '')) footer.unshift((filled.pop()?.text ?? '').trim());

  const rule = filled.findLastIndex(
    (line) => isRule(line.text, columns) && !isRuleInsideQuestion(filled, line),
  );
  if (rule === -1) return undefined;
  const region = filled.slice(rule + 1).filter((line) => !isRule(line.text, columns));
  const mark = region.findIndex((line) => /^\s*❯\s*\S/u.test(line.text));
  if (mark === -1 || region.some((line, index) => index !== mark && /^\s*❯/u.test(line.text)))
    return undefined;

  const markedOption = parseOption(region[mark]?.text ?? '');
  if (markedOption === undefined) return undefined;
  const numbered = markedOption.number !== undefined;
  const isSibling = (line: Line): boolean => {
    const option = parseOption(line.text);
    if (option === undefined) return false;
    return numbered ? option.number !== undefined : option.column === markedOption.column;
  };
  let first = mark;
  while (first > 0 && isOptionOrDescription(region, first - 1, isSibling, markedOption.column)) first--;
  while (first < mark && !isSibling(region[first] ?? { row: 0, text: '' })) first++;

  const options: MenuOption[] = [];
  let marked = -1;
  for (const [index, line] of region.entries()) {
    if (index < first) continue;
    const option = index === mark || isSibling(line) ? parseOption(line.text) : undefined;
    if (option === undefined) {
      if (indentOf(line.text) >= markedOption.column + DESCRIPTION_INDENT - 1) continue;
      return undefined;
    }
    if (index === mark) marked = options.length;
    options.push({ label: option.label, number: option.number });
  }
  if (options.length < 2 || marked === -1) return undefined;
  return { heading: region.slice(0, first).map((line) => line.text.trim()), options, marked, footer };
}

function isOptionOrDescription(
  region: readonly Line[],
  index: number,
  isSibling: (line: Line) => boolean,
  column: number,
): boolean {
  const line = region[index];
  if (line === undefined) return false;
  return isSibling(line) || indentOf(line.text) > column;
}

interface ParsedOption extends MenuOption {
  /** Where the label (or its number) begins. */
  readonly column: number;
}

function parseOption(text: string): ParsedOption | undefined {
  const match = optionPattern.exec(text);
  if (match === null) return undefined;
  const [, before = '', mark = '', after = '', number, label = ''] = match;
  return {
    label: label.trim(),
    number: number === undefined ? undefined : Number(number),
    column: before.length + mark.length + after.length,
  };
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}

/** `────…` over (nearly) the whole width. */
export function isRule(text: string, columns: number): boolean {
  const trimmed = text.trim();
  return trimmed.length >= columns - RULE_SLACK_COLUMNS && /^(─+|▔+)$/u.test(trimmed);
}

/** A question's dialog has a second rule above its last option (`Chat about this`): that one is no border. */
function isRuleInsideQuestion(filled: readonly Line[], rule: Line): boolean {
  const next = filled.find((line) => line.row > rule.row);
  return next !== undefined && /^\s*❯?\s*\d{1,2}\.\s+Chat about this\s*$/u.test(next.text);
}
