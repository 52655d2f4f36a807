import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { textSearch, type TextMatch } from '../../../src/files/search/search-text.js';
import { rounds } from '../../harness/rounds.js';

/** Lines as a person counts them: a last line end begins no further one. */
function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => line.replace(/\r$/, ''));
}

interface Sought {
  readonly query: string;
  readonly isFixed: boolean;
  readonly context: number;
  readonly afterLine: number;
  /** Each look at the clock says that a pause is due. */
  readonly isDue: boolean;
}

function matchesIn(text: string, { query, isFixed, context, afterLine, isDue }: Sought): TextMatch[] {
  const matches: TextMatch[] = [];
  const goOn = textSearch({
    text,
    find: (line) => line.indexOf(query),
    pieceChars: 64 * 1024,
    context,
    afterLine,
    fixed: isFixed ? query : undefined,
    pause: { isDue: () => isDue },
    take: (match) => matches.push(match) > 0,
  });
  let end = goOn();
  for (; end === 'due'; end = goOn()) expect(isDue).toBe(true);
  expect(end).toBe('all');
  return matches;
}

describe('the matches in a text', () => {
  test('are those of its lines, with their context, for a literal text and an expression', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'b', '\r', ' ', 'é'), maxLength: 6 });
    const text = fc.array(line, { maxLength: 9 });
    const query = fc.constantFrom('a', 'ab', 'é', 'aa', ' ');
    fc.assert(
      fc.property(
        text,
        query,
        fc.nat(3),
        fc.nat(4),
        fc.boolean(),
        fc.boolean(),
        (parts, sought, context, afterLine, isFixed, isDue) => {
          const whole = parts.join('\n');
          const lines = linesOf(whole);
          const expected = lines.flatMap((shown, index) => {
            const column = shown.indexOf(sought);
            if (column < 0 || index < afterLine) return [];
            const around = {
              before: lines.slice(Math.max(0, index - context), index),
              after: lines.slice(index + 1, index + 1 + context),
            };
            return [{ line: index + 1, column: column + 1, text: shown, ...(context > 0 && around) }];
          });
          const options = { query: sought, isFixed, context, afterLine, isDue };
          expect(matchesIn(whole, options)).toEqual(expected);
        },
      ),
      { numRuns: rounds(500) },
    );
  });

  test('end where the page is full', () => {
    const { goOn, taken } = searchOf('a\na\na\n', { enough: 2, isDue: false });
    expect([goOn(), taken()]).toEqual(['full', 2]);
  });

  test('yield to other work after each match, when it has waited long enough', () => {
    const { goOn, taken } = searchOf('a\na\n', { enough: 9, isDue: true });
    expect([goOn(), taken()]).toEqual(['due', 1]);
    expect([goOn(), taken()]).toEqual(['due', 2]);
    expect([goOn(), taken()]).toEqual(['all', 2]);
  });
});

/** A search for `a` that has enough with so many matches. */
function searchOf(text: string, { enough, isDue }: { readonly enough: number; readonly isDue: boolean }) {
  let taken = 0;
  const goOn = textSearch({
    text,
    find: (line) => line.indexOf('a'),
    pieceChars: 64 * 1024,
    context: 0,
    afterLine: 0,
    fixed: 'a',
    pause: { isDue: () => isDue },
    take: () => ++taken < enough,
  });
  return { goOn, taken: () => taken };
}

test('an expression is matched against a piece of a long line at a time, with a pause between', () => {
  const asked: number[] = [];
  const long = 'x'.repeat(500_000);
  const text = `${long}\n${long}here${long}\nhere`;
  const matches: TextMatch[] = [];
  let pauses = 0;
  const goOn = textSearch({
    text,
    find: (line) => {
      asked.push(line.length);
      return line.indexOf('here');
    },
    pieceChars: 10_000,
    context: 0,
    afterLine: 0,
    fixed: undefined,
    pause: { isDue: () => true },
    take: (match) => matches.push(match) > 0,
  });
  while (goOn() === 'due') pauses++;
  expect(Math.max(...asked)).toBe(10_000);
  expect(pauses).toBe(asked.length);
  expect(matches.map(({ line, column }) => [line, column])).toEqual([
    [2, 500_001],
    [3, 1],
  ]);
});

test('a match at the border of two pieces is found, and pieces of any length give the same matches', () => {
  const found = (text: string, pieceChars: number): number[] => {
    const columns: number[] = [];
    const goOn = textSearch({
      text,
      find: (line) => line.indexOf('needle'),
      pieceChars,
      context: 0,
      afterLine: 0,
      fixed: undefined,
      pause: { isDue: () => false },
      take: ({ column }) => columns.push(column) > 0,
    });
    expect(goOn()).toBe('all');
    return columns;
  };
  for (let before = 0; before < 700; before++)
    expect(found(`${'x'.repeat(before)}needle${'x'.repeat(300)}`, 200), `${before}`).toEqual([before + 1]);
});
