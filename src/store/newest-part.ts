// Pure: the end of a text that is too long for a file.

/** Room for the line that says how much is left out. */
const NOTE_BYTES = 80;
const LINE_FEED = 0x0a;

export interface NewestPart {
  /** A line that says how much is left out, if there is room for one, and the end of the text. */
  readonly bytes: Buffer;
  readonly leftOutBytes: number;
}

/** The newest part of a UTF-8 text that is longer than `maxBytes`, from the beginning of a line or at least of a character. */
export function newestPart(text: Buffer, maxBytes: number): NewestPart {
  const hasNote = maxBytes >= 2 * NOTE_BYTES;
  const room = hasNote ? maxBytes - NOTE_BYTES : maxBytes;
  const start = startOfPart(text, text.length - room);
  const note = `[${start} bytes left out: more came at once than a log file holds]\n`;
  return {
    bytes: Buffer.concat([Buffer.from(hasNote ? note : ''), text.subarray(start)]),
    leftOutBytes: start,
  };
}

function startOfPart(text: Buffer, from: number): number {
  const feed = text.indexOf(LINE_FEED, Math.max(0, from - 1));
  // A line that begins late would leave most of the room empty.
  if (feed >= 0 && feed - from < (text.length - from) / 2) return feed + 1;
  let start = from;
  while (start < text.length && ((text[start] ?? 0) & 0xc0) === 0x80) start++;
  return start;
}
