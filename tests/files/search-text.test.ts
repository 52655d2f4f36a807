import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { searchText, type TextMatch } from '../../src/files/search-text.js';
import { WalkPause } from '../../src/files/walk-pause.js';
import { never } from './explorer.js';

/** Lines as a person counts them: a last line end begins no further one. */
function linesOf(text: string): string[] {
  const lines = text.replace(/^\ufeff/, '').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => line.replace(/\r$/, ''));
}

async function matchesIn(
  text: string,
  {
    query,
    isFixed,
    context,
    afterLine,
  }: { query: string; isFixed: boolean; context: number; afterLine: number },
): Promise<TextMatch[]> {
  const matches: TextMatch[] = [];
  await searchText({
    text,
    find: (line) => line.indexOf(query),
    context,
    afterLine,
    fixed: isFixed ? query : undefined,
    pause: new WalkPause(never),
    take: (match) => matches.push(match) > 0,
  });
  return matches;
}

describe('the matches in a text', () => {
  test('are those of its lines, with the lines around them, whichever way they are looked for', async () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'b', '\r', ' ', 'é'), maxLength: 6 });
    const text = fc.tuple(fc.constantFrom('', '\ufeff'), fc.array(line, { maxLength: 9 }));
    const query = fc.constantFrom('a', 'ab', 'é', 'aa', ' ');
    await fc.assert(
      fc.asyncProperty(
        text,
        query,
        fc.nat(3),
        fc.nat(4),
        fc.boolean(),
        async (parts, sought, context, afterLine, isFixed) => {
          const whole = parts[0] + parts[1].join('\n');
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
          expect(await matchesIn(whole, { query: sought, isFixed, context, afterLine })).toEqual(expected);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('end where the page is full', async () => {
    let taken = 0;
    const isAll = await searchText({
      text: 'a\na\na\n',
      find: (line) => line.indexOf('a'),
      context: 0,
      afterLine: 0,
      fixed: 'a',
      pause: new WalkPause(never),
      take: () => ++taken < 2,
    });
    expect([isAll, taken]).toEqual([false, 2]);
  });
});
