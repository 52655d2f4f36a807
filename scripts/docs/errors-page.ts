// Pure: error codes → docs/errors.md.

/** The page of all error codes and their sentences, sorted by code; `names` is the part about codes with another name. */
export function errorsPage(codes: Readonly<Record<string, string>>, names: string): string {
  const rows = Object.entries(codes)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, sentence]) => `| \`${code}\` | ${sentence.replaceAll('|', '\\|')} |`);
  return [
    '# Error codes',
    '',
    'Generated from `src/base/errors.ts` by `npm run docs`; do not edit.',
    '',
    'An error reads `CODE: what was asked and what is so. What to do next.` In answers of tools it comes with `isError`.',
    '',
    '| code | meaning |',
    '| --- | --- |',
    ...rows,
    '',
    names,
  ].join('\n');
}
