// Pure: output as a person reads it.
import { stripVTControlCharacters } from 'node:util';

/**
 * Text without escape sequences and control characters. Of a line that was written over (a progress bar) what was written
 * last is shown; backspaces remove what is before them.
 */
export function plainText(raw: string): string {
  const text = stripVTControlCharacters(raw).replaceAll('\r\n', '\n');
  if (!/[\u0000-\u0008\u000b-\u001f\u007f]/.test(text)) return text;
  return text
    .split('\n')
    .map((line) => plainLine(line))
    .join('\n');
}

function plainLine(line: string): string {
  const written = line.replace(/\r+$/, '');
  const last = written.slice(written.lastIndexOf('\r') + 1);
  let shown = '';
  for (const char of last) {
    if (char === '\b') shown = shown.slice(0, -1);
    else if (char === '\t' || (char >= ' ' && char !== '\u007f')) shown += char;
  }
  return shown;
}
