import type { Look } from '../../src/cli/terminal-text.js';

/** Of an output that is no terminal. */
export const piped: Look = { columns: undefined, paint: (_style, text) => text, own: (sequence) => sequence };

/** Of a terminal that writes each style as a tag. */
export function terminal(columns: number): Look {
  return { ...piped, columns, paint: (style, text) => `<${style}>${text}</${style}>` };
}
