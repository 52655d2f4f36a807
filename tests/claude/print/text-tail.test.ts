import { describe, expect, it } from 'vitest';
import { TextTail } from '../../../src/claude/print/text-tail.js';

describe('TextTail', () => {
  it('keeps the end of a burst', () => {
    const tail = new TextTail();
    for (let line = 0; line < 100_000; line++) tail.append(`line ${line}\n`);
    expect(tail.read(10)).toBe('line 99999');
    expect(tail.lastLines(2)).toBe('line 99998\nline 99999');
  });

  it('is trimmed and has no escape codes', () => {
    const tail = new TextTail();
    tail.append('\n\x1b[31mred\x1b[0m \n');
    expect(tail.read(100)).toBe('red');
  });

  it('reads the newest turn alone, and shows what was before on the screen', () => {
    const tail = new TextTail();
    tail.append('an old answer\n');
    tail.beginTurn();
    expect(tail.read(100)).toBe('');
    tail.append('a new one\n');
    expect(tail.read(100)).toBe('a new one');
    expect(tail.lastLines(2)).toBe('an old answer\na new one');
    for (let line = 0; line < 100_000; line++) tail.append(`line ${line}\n`);
    expect(tail.read(10)).toBe('line 99999');
  });
});
