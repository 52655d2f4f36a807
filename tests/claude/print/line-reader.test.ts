import { describe, expect, it } from 'vitest';
import { LineReader } from '../../../src/claude/print/line-reader.js';

function read(chunks: readonly (string | Buffer)[]) {
  const seen = { objects: [] as string[], text: '', overlong: [] as number[] };
  const reader = new LineReader({
    onObjectLine: (line) => seen.objects.push(line),
    onText: (text) => {
      seen.text += text;
    },
    onOverlongLine: (chars) => seen.overlong.push(chars),
  });
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  reader.end();
  return seen;
}

describe('LineReader', () => {
  it('joins a line that arrives in pieces, even within a character', () => {
    const bytes = Buffer.from('{"text":"é☂"}\n');
    const pieces = Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
    expect(read(pieces).objects).toEqual(['{"text":"é☂"}']);
  });

  it('splits a chunk with several lines, with either line end, and a last one without', () => {
    expect(read(['{"a":1}\r\n{"b":2}\n\n{"c":3}']).objects).toEqual(['{"a":1}', '{"b":2}', '{"c":3}']);
  });

  it('passes on text that is not an object immediately, even a prompt without a newline', () => {
    const seen = read(['hello\nDo you want to ', 'proceed? [y/N] ']);
    expect(seen).toEqual({ objects: [], text: 'hello\nDo you want to proceed? [y/N] ', overlong: [] });
  });

  it('drops an object line above 16 MB and goes on with the next', () => {
    const piece = 'x'.repeat(1024 * 1024);
    const seen = read(['{', ...Array.from({ length: 17 }, () => piece), '\n{"next":1}\n']);
    expect(seen.objects).toEqual(['{"next":1}']);
    expect(seen.overlong).toEqual([17 * 1024 * 1024 + 1]);
  });
});
