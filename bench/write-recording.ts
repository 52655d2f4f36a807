import { closeSync, openSync, writeSync } from 'node:fs';

/** The time between two events; each is a frame of a program that draws. */
const FRAME_MS = 20;
/** So often the program prints nothing for a while. */
const PAUSE_EVERY = 2_000;
const PAUSE_MS = 10_000;
const ROWS = 40;
const WORDS = 'the quick brown fox reads a file and writes another one '.split(' ');

export interface WrittenRecording {
  readonly lengthMs: number;
  /** The number of the frame that is shown at a moment. */
  readonly frameAt: (ms: number) => number;
}

/** Writes a recording of a program that draws, scrolls and pauses; each frame shows its number behind a bar. */
export function writeRecording(path: string, bytes: number): WrittenRecording {
  const times: number[] = [];
  const file = openSync(path, 'w', 0o600);
  const head = { version: 2, width: 120, height: ROWS, timestamp: 1_700_000_000 };
  let written = writeSync(file, `${JSON.stringify(head)}\n`);
  let ms = 0;
  let lines: string[] = [];
  for (let number = 0; written < bytes; number++) {
    ms += number % PAUSE_EVERY === PAUSE_EVERY - 1 ? PAUSE_MS : FRAME_MS;
    times.push(ms);
    lines.push(`${JSON.stringify([ms / 1000, 'o', frame(number)])}\n`);
    if (lines.length < 1_000) continue;
    written += writeSync(file, lines.join(''));
    lines = [];
  }
  closeSync(file);
  return { lengthMs: ms, frameAt: (at) => times.findLastIndex((time) => time <= at) };
}

/** A line that scrolls, and a box at the bottom that is drawn again. */
function frame(number: number): string {
  const word = (at: number): string => WORDS[(number * 7 + at) % WORDS.length] ?? '';
  const text = Array.from({ length: 14 }, (_, at) => `\x1b[3${(number + at) % 8}m${word(at)}\x1b[0m`).join(
    ' ',
  );
  const box = Array.from(
    { length: 3 },
    (_, row) => `\x1b[${ROWS - 2 + row};1H\x1b[2K│ ${number} ${word(row)} ${'─'.repeat(60)}`,
  ).join('');
  return `\x1b[?25l\x1b[${ROWS - 3};1H\r\n${text}${box}\x1b[?25h`;
}
