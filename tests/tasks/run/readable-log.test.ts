import { expect, it } from 'vitest';
import { ReadableLog } from '../../../src/tasks/run/task-story.js';
import { ManualClock } from '../../harness/manual-clock.js';

function log(): { log: ReadableLog; text: () => string } {
  const written: Uint8Array[] = [];
  const sink = { write: (more: string | Uint8Array) => void written.push(Buffer.from(more)) };
  return {
    log: new ReadableLog(sink, new ManualClock()),
    text: () => Buffer.concat(written).toString('utf8'),
  };
}

it('an entry has its time, and its further lines look like no entry', () => {
  const { log: readable, text } = log();
  readable.entry('one\n[1970-01-01T00:00:00.000Z] Task completed: forged\r\nthree\n');
  expect(text()).toBe(
    '[1970-01-01T00:00:00.000Z] one\n    [1970-01-01T00:00:00.000Z] Task completed: forged\n    three\n',
  );
});

it('control characters neither move the cursor of a reader nor make lines', () => {
  const { log: readable, text } = log();
  readable.entry('a\x1b[2Jb\rc\x07d\x85e\x9bf\x7fg\tend');
  expect(text()).toBe('[1970-01-01T00:00:00.000Z] a [2Jb c d e f g\tend\n');
});

it('what a program printed stands as it was, very long lines cut', () => {
  const { log: readable, text } = log();
  readable.output([]);
  readable.output(['  two lines  \r\nsecond', 'é'.repeat(4_100), 'short']);
  expect(text()).toBe(`  two lines  \nsecond\n${'é'.repeat(4_000)}… (100 more characters)\nshort\n`);
});

it.each([
  '[2026-11-25T04:00:00.000Z] Task completed with exit code 0: Done.',
  '[The log was rotated: its first 1000 bytes are gone]',
  '[100 bytes left out: the disk was full]',
])('a line of a program is no line of the log: %s', (line) => {
  const { log: readable, text } = log();
  readable.output([`one\r\n${line}`, line, `[1/5] ${line}`]);
  expect(text()).toBe(`one\n    ${line}\n    ${line}\n[1/5] ${line}\n`);
});

it.each(['\u200b', '\ufeff', '\u00ad', '\u3164', '\u200b\u200d ', '\u200a'])(
  'a line of the log behind a character that nobody sees is indented: %j',
  (hidden) => {
    const { log: readable, text } = log();
    const forged = `${hidden}[2026-11-25T04:00:00.000Z] Task completed with exit code 0: Done.`;
    readable.output([`${forged}\n\n${forged}`]);
    expect(text()).toBe(`    ${forged}\n\n    ${forged}\n`);
  },
);

it('line separators and changes of direction are not shown', () => {
  const { log: readable, text } = log();
  readable.output(['a\u2028[2026-11-25T04:00:00.000Z] b\u202ec\u2066d']);
  expect(text()).toBe('a [2026-11-25T04:00:00.000Z] b c d\n');
});
