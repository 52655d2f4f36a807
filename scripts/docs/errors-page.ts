// Pure: error codes → docs/errors.md.

/** Codes of the documents by which this project was first described, what came of each, and why. */
const earlierCodes = [
  [
    'GIT_ERROR',
    '`GIT_FAILED`, `NOT_A_REPOSITORY`, `REVISION_NOT_FOUND` or `GIT_NOT_FOUND`',
    'A caller does something else after each: look at the message, call `init_git_repo`, give another name, install git.',
  ],
  [
    'SPAWN_FAILED',
    'of a task `CLAUDE_NOT_FOUND`, `CLAUDE_NOT_EXECUTABLE` or `TASK_START_FAILED`; of a process still `SPAWN_FAILED`',
    'The first two are mended in the settings, the third on the machine.',
  ],
  [
    'TASK_TIMEOUT',
    'the status `timeout` (`failed` in the toolset `delegate`) with the reason',
    'A time limit ends a task, not a call: no call is there to fail.',
  ],
  [
    'INVALID_PROMPT',
    '`INVALID_ARGUMENTS` for a length out of bounds, else still `INVALID_PROMPT`',
    'Bounds are in the schema of the tool, and one code names all that do not fit it.',
  ],
  ['UNKNOWN_ERROR', '`INTERNAL_ERROR`', 'One code for an error of the bridge itself.'],
] as const;

/** The page of all error codes and their sentences, sorted by code. */
export function errorsPage(codes: Readonly<Record<string, string>>): string {
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
    '## Codes with another name',
    '',
    'The documents by which this project was first described name these codes.',
    '',
    '| there | here | why |',
    '| --- | --- | --- |',
    ...earlierCodes.map(([code, here, why]) => `| \`${code}\` | ${here} | ${why} |`),
    '',
  ].join('\n');
}
