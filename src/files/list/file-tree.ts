// Pure: draws the lines of a tree.
import { oneLine } from '../../base/text.js';
import type { ListedEntry } from './list-page.js';

/** A name has at most 255 bytes, but escaped control characters are longer. */
const SHOWN_NAME_CHARS = 400;

/** One entry as a line: `│   ├── name`, a folder with `/`, a link with its target. */
export function treeLine(listed: ListedEntry, target: string | undefined): string {
  const { entry, lasts, note } = listed;
  const indent = lasts.map((isLast) => (isLast ? '    ' : '│   '));
  const branch = listed.isLast ? '└── ' : '├── ';
  const name = oneLine(entry.name, SHOWN_NAME_CHARS);
  const end = entry.isFolder ? '/' : target === undefined ? '' : ` -> ${target}`;
  return `${indent.join('')}${branch}${name}${end}${note === undefined ? '' : ` [${note}]`}`;
}

/** The line that counts omitted entries. */
export function moreLine(more: number): string {
  return `… ${more} more`;
}
