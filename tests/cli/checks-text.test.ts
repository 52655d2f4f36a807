import { expect, it } from 'vitest';
import { checkedLines, checksOf, verificationText } from '../../src/cli/checks-text.js';
import { refusal } from '../harness/refusal.js';

const results = [
  { name: 'unit', command: 'npm test', verdict: 'met' as const, output: 'fine' },
  {
    ...{ name: 'lint', command: 'eslint .', verdict: 'not met' as const, why: 'exit code 1' },
    ...{ output: 'a.js\n\u001b[31m2 errors', output_file: '/state/2.txt', left_changed: ['.cache'] },
  },
  { name: 'e2e', command: 'e2e', verdict: 'not run' as const, why: 'no sandbox' },
];

it('a brief and checks are shown with what is not met, quoted, and where all of it is', () => {
  const checked = { results, rounds: 1, own_files_changed: ['a.test.js'], stopped: 'it went back 1 time' };
  const brief = { goal: 'Pass', decided: ['No database'] };
  const text = checkedLines({ brief, checked }).join('\n');
  expect(text).toBe(`
brief:
| Goal: Pass
| 
| Decided:
| - No database

checks: 1 of 3 checks met
  unit: met
  lint: not met, exit code 1
| a.js
| [31m2 errors
  all of its output: /state/2.txt
  e2e: not run, no sandbox
  lint left changed: .cache.
  The task changed files of its checks: a.test.js.
  Nothing went back to the session any more: it went back 1 time.`);
  expect(checkedLines({})).toEqual([]);
});

it('a verification is shown with its alarms and notes', () => {
  const hollow = {
    check: 'unit',
    file: 'a.test.js',
    after: 'met',
    before: 'met',
    red_before: false,
  } as const;
  const found = {
    results: [...results.slice(0, 1)],
    tests: [hollow],
    rounds: 0,
    notes: ['A note.'],
    tests_changed: '-  old',
  };
  expect(verificationText(found)).toBe(
    'checks: 1 check met\n  unit: met\n  Alarm: on the old code these pass, too: a.test.js.\n  A note.\nTest files that were there before are changed:\n| -  old\n',
  );
});

it('checks of a command line have a name of one word before a colon, or their command for a name', async () => {
  const named = checksOf(['lint: npm run lint', 'echo "a: b"', 'curl -f http://localhost']);
  expect(named.map(({ name, command }) => [name, command])).toEqual([
    ['lint', 'npm run lint'],
    ['echo "a: b"', 'echo "a: b"'],
    ['curl -f http://localhost', 'curl -f http://localhost'],
  ]);
  expect(await refusal((async () => checksOf(['a: x', 'a: y']))())).toMatch(
    /^INVALID_ARGUMENTS: --check needs names of their own, and two checks have the name "a"/,
  );
});
