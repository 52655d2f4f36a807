import { expect, it } from 'vitest';
import { ReadableLog } from '../../../src/tasks/run/readable-log.js';
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
