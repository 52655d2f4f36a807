import { describe, expect, it } from 'vitest';
import { unverifiedClaims, type Observed } from '../../../src/tasks/receipt/receipt-check.js';
import { claimsOf } from '../../../src/tasks/receipt/receipt-claims.js';
import type { GitReport } from '../../../src/tasks/receipt/receipt.js';

const SINCE_MS = 1_000_000;

const repository: Extract<GitReport, { state: 'repository' }> = {
  state: 'repository',
  repository: '/repo',
  notes: [],
  branch_before: 'main',
  branch_after: 'main',
  head_before: 'b'.repeat(40),
  head_after: 'a'.repeat(40),
  commits: [{ commit: `abc1234${'0'.repeat(33)}`, author: 'A', date: '', subject: 's' }],
  commits_total: 1,
  commits_older: 0,
  files: [
    { path: 'src/seen.ts', change: 'changed' },
    { path: 'old.txt', change: 'deleted' },
  ],
  files_total: 2,
  insertions: 0,
  deletions: 0,
  dirty_before: { count: 0, untouched: [], changed: [], committed: [] },
  uncommitted: 0,
};

function observed(more: Partial<Observed> = {}): Observed {
  return {
    projectPath: '/repo',
    written: ['/repo/written.md'],
    commands: ['rm build/out.js'],
    tests: [{ runner: 'vitest', verdict: 'passed', passed: 12, failed: 0 }],
    git: repository,
    changedMs: async (path) =>
      path === '/repo/README.md' ? SINCE_MS - 1 : path === '/repo/dist/made.js' ? SINCE_MS : undefined,
    hasCommit: async (name) => name === 'dddd111',
    sinceMs: SINCE_MS,
    ...more,
  };
}

const held: readonly string[] = [
  'I updated `src/seen.ts` and wrote written.md.',
  'Changed seen.ts.',
  'Removed `old.txt`.',
  'Deleted build/out.js.',
  'Generated dist/made.js.',
  'I looked at README.md, which explains Node.js and e.g. process.env.',
  'Committed as abc1234.',
  'Committed the changes.',
  'This builds on dddd111.',
  'All tests pass.',
  'All 12 tests pass.',
  'You should update missing.ts next.',
  'I did not change other.ts.',
  'The tests will pass once the server runs.',
  'Tests could not be run, so nothing passes yet.',
  'See https://example.com/docs/guide.html and version 1.2.3.',
  'The route `/api/users` and the folder `src/parts/` are as they were.',
  '```\ncreated nowhere/at/all.ts\n```',
  '2 tests are failing, 10 tests pass.',
  'The id is 0b0f8a7e-1111-4222-8333-444455556666.',
];

const doubted: readonly (readonly [message: string, about: string, why: RegExp])[] = [
  ['I created `src/lie.ts`.', 'file', /src\/lie\.ts is not there/],
  ['Updated README.md with the new options.', 'file', /README\.md was not changed during the task/],
  ['Removed README.md.', 'file', /README\.md is there/],
  ['Removed `gone.ts`.', 'file', /nothing was seen to remove it/],
  ['Files created:\n- `src/one.ts`: the first', 'file', /src\/one\.ts is not there/],
  ['The fix is in src/nowhere.ts:12.', 'file', /src\/nowhere\.ts is not there/],
  ['Committed as fff1234.', 'commit', /no commit fff1234/],
  ['I committed dddd111.', 'commit', /was not made during the task/],
];

describe('a claim that was observed is not doubted', () => {
  it.each(held)('%s', async (message) => {
    expect(await unverifiedClaims(message, observed())).toEqual([]);
  });
});

describe('a claim that matches nothing observed is told', () => {
  it.each(doubted)('%s', async (message, about, why) => {
    const claims = await unverifiedClaims(message, observed());
    expect(claims).toMatchObject([{ about }]);
    expect(claims[0]?.why).toMatch(why);
  });

  it('tests that nobody saw run, that failed, that hid their end, and that were fewer', async () => {
    const why = async (message: string, tests: Observed['tests']): Promise<string | undefined> =>
      (await unverifiedClaims(message, observed({ tests })))[0]?.why;
    expect(await why('All tests pass.', [])).toMatch(/no test run was seen/);
    expect(await why('The test suite passes.', [{ runner: 'jest', verdict: 'failed' }])).toMatch(
      /\(jest\) failed/,
    );
    expect(await why('Tests are green.', [{ runner: 'jest', verdict: 'unknown' }])).toMatch(
      /hid its exit code/,
    );
    expect(await why('Tests are green.', [{ runner: 'jest', verdict: 'unknown', passed: 0 }])).toMatch(
      /passed no test/,
    );
    const uncounted = [{ runner: 'test.js', verdict: 'passed' }] as const;
    expect(await why('All tests pass.', uncounted)).toBeUndefined();
    expect(await why('I ran the 37 tests: 37 passed.', uncounted)).toMatch(
      /no counts are known .* \(test\.js\)/,
    );
    const ten = [{ runner: 'jest', verdict: 'passed', passed: 10, failed: 0 }] as const;
    expect(await why('12 tests passed.', ten)).toMatch(/passed 10 tests, not 12/);
  });

  it('a commit where none was made, and where there is no repository', async () => {
    const none = { ...repository, commits: [], commits_total: 0 };
    expect(await unverifiedClaims('I committed everything.', observed({ git: none }))).toMatchObject([
      { about: 'commit', why: 'no commit was made during the task' },
    ]);
    const outside = observed({ git: { state: 'none', why: '' } });
    expect(await unverifiedClaims('I committed everything.', outside)).toMatchObject([{ about: 'commit' }]);
  });
});

it('a long message is read in a moment, whatever stands in it', () => {
  const lines = [
    'a/'.repeat(8_000),
    'x.'.repeat(8_000),
    '`'.repeat(16_000),
    'tests '.repeat(2_600),
    '0'.repeat(16_000),
  ];
  expect(claimsOf(lines.join('\n')).length).toBeLessThanOrEqual(100);
});
