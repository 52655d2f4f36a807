// Pure: reads the notice below the input box when a usage limit is reached.
import type { ScreenLines } from '../interactive/screen-state.js';
import { isFullRule } from '../interactive/rule.js';

/** `  ⚠ Usage limit reached · limit resets 9:44am`, drawn by 2.1.330. */
const limitLine = /^ {2}⚠ (Usage limit reached\b.*?) *$/u;

/**
 * The text of the notice, or undefined. It counts only below the last rule across the screen, which is the lower border of the input
 * box: the agent and programs cannot print there.
 */
export function readLimitFooter({ lines, columns }: ScreenLines): string | undefined {
  const border = lines.findLastIndex((line) => isFullRule(line, columns));
  if (border === -1) return undefined;
  for (const line of lines.slice(border + 1)) {
    const words = limitLine.exec(line)?.[1];
    if (words !== undefined) return words;
  }
  return undefined;
}
