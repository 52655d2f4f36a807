// Pure: the first line of a log file when older files are gone.

const NOTE = /^\[The log was rotated: its first (\d{1,15}) bytes are gone\]\n/;
/** More than the line takes. */
export const GONE_NOTE_BYTES = 80;

/** `goneBytes` were written before the file before this one. */
export function goneNote(goneBytes: number): string {
  return goneBytes === 0 ? '' : `[The log was rotated: its first ${goneBytes} bytes are gone]\n`;
}

/** The line at the beginning of a file, and its number; 0 and `''` without one. */
export function readGoneNote(head: string): { readonly line: string; readonly goneBytes: number } {
  const [line = '', goneBytes = '0'] = NOTE.exec(head) ?? [];
  return { line, goneBytes: Number(goneBytes) };
}
