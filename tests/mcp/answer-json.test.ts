import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerJson, longField, piecesBytes, type JsonPieces } from '../../src/mcp/answer-json.js';
import type { JsonObject } from '../../src/mcp/json-object.js';
import { LongTexts } from '../../src/mcp/long-text.js';
import { readable } from '../../src/mcp/readable.js';

const LONG = 40_000;

const textOf = (pieces: JsonPieces): string => pieces.map((piece) => piece.toString()).join('');

/** As any other answer is written. */
const plain = (answer: JsonObject): unknown =>
  JSON.parse(
    JSON.stringify({ content: [{ type: 'text', text: readable(answer) }], structuredContent: answer }),
  );

/** The same without the structured form. */
const plainText = (answer: JsonObject): unknown => ({ content: [{ type: 'text', text: readable(answer) }] });

function written(
  answer: JsonObject,
  textOnly = false,
): { readonly value: unknown; readonly isSizeTold: boolean } {
  const field = longField(answer);
  if (field === undefined) throw new Error('There is no long text in it.');
  const pieces = answerJson(answer, field.name, new LongTexts().escaped(field.text), textOnly);
  const text = textOf(pieces);
  return { value: JSON.parse(text), isSizeTold: piecesBytes(pieces) === Buffer.byteLength(text) };
}

/** Lines of `part`, longer than what is written at a time. */
const lines = (part: string): string => `${part}\n`.repeat(Math.ceil(LONG / (part.length + 1)));

describe('an answer with a long text', () => {
  it.each([
    ['first', { text: lines('a "quoted" \\ line\t'), size: 1, missing: undefined, list: ['x'] }],
    ['in the middle', { path: '/a "b"', text: lines('words'), more: false, note: undefined }],
    ['last', { path: 'text:\nlike a name', none: [], text: lines('\u0000\u001f\u007f\r') }],
  ])('is the same JSON with the text %s', (_, answer) => {
    expect(written(answer)).toEqual({ value: plain(answer), isSizeTold: true });
    expect(written(answer, true)).toEqual({ value: plainText(answer), isSizeTold: true });
  });

  it('is the same JSON whatever characters are in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 50 }), (part) => {
        const answer = { path: part, text: lines(part), after: part };
        expect(written(answer).value).toEqual(plain(answer));
      }),
      { numRuns: 12 },
    );
  });

  it('keeps characters of four bytes whole, wherever the text is cut to be written', () => {
    for (const shift of ['', 'x']) {
      const answer = { text: `${shift}${'😀'.repeat(LONG)}\n` };
      expect(written(answer).value).toEqual(plain(answer));
    }
  });

  it('keeps halves of characters as JSON says them', () => {
    const answer = { text: lines('\ud800 alone') };
    expect(written(answer).value).toEqual(plain(answer));
  });

  it('is looked for among texts of several lines alone: others stand otherwise in the readable form', () => {
    expect(longField({ text: 'x'.repeat(LONG) })).toBeUndefined();
    expect(longField({ inner: { text: lines('x') }, list: [lines('x')], text: 'short\n' })).toBeUndefined();
  });
});
