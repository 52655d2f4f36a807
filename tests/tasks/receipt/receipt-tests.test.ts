import { describe, expect, it } from 'vitest';
import { testRunOf } from '../../../src/tasks/receipt/receipt-tests.js';

type Row = readonly [command: string, exitCode: number | null, output: string, expected: unknown];

const rows: readonly Row[] = [
  [
    'npx vitest run',
    0,
    '\u001b[2m Test Files \u001b[22m 1 passed (1)\n      Tests  3 passed (3)\n',
    { runner: 'vitest', verdict: 'passed', passed: 3, failed: 0 },
  ],
  [
    'npm test',
    1,
    ' Test Files  1 failed (1)\n      Tests  1 failed | 2 passed | 1 skipped (4)\n',
    { runner: 'vitest', verdict: 'failed', passed: 2, failed: 1, skipped: 1 },
  ],
  [
    'npx jest',
    1,
    'Tests:       1 failed, 2 passed, 3 total\n',
    { runner: 'jest', verdict: 'failed', passed: 2, failed: 1 },
  ],
  [
    'python -m pytest -q',
    0,
    '...\n3 passed in 0.01s\n',
    { runner: 'pytest', verdict: 'passed', passed: 3, failed: 0 },
  ],
  [
    'poetry run pytest',
    1,
    '==== 1 failed, 2 passed, 1 skipped, 4 warnings in 0.12s ====\n',
    { runner: 'pytest', verdict: 'failed', passed: 2, failed: 1, skipped: 1 },
  ],
  [
    'python3 -m unittest',
    1,
    'Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1)\n',
    { runner: 'unittest', verdict: 'failed', passed: 3, failed: 2, skipped: 0 },
  ],
  ['go test ./...', 0, 'ok  \texample.com/a\t0.002s\n', { runner: 'go test', verdict: 'passed' }],
  [
    'go test -v ./...',
    1,
    '--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL\n',
    { runner: 'go test', verdict: 'failed', passed: 1, failed: 1, skipped: 0 },
  ],
  [
    'cargo test',
    0,
    'test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured\n\ntest result: ok. 2 passed; 0 failed; 0 ignored\n',
    { runner: 'cargo test', verdict: 'passed', passed: 5, failed: 0, skipped: 1 },
  ],
  [
    'cargo nextest run',
    100,
    '     Summary [   0.1s] 10 tests run: 9 passed, 1 failed, 0 skipped\n',
    { runner: 'cargo test', verdict: 'failed', passed: 9, failed: 1, skipped: 0 },
  ],
  [
    './node_modules/.bin/mocha',
    2,
    '  3 passing (10ms)\n  2 failing\n',
    { runner: 'mocha', verdict: 'failed', passed: 3, failed: 2, skipped: 0 },
  ],
  [
    'node --test',
    0,
    '# tests 4\n# pass 4\n# fail 0\n# skipped 0\n',
    { runner: 'node --test', verdict: 'passed', passed: 4, failed: 0, skipped: 0 },
  ],
  [
    'npm run test:unit',
    0,
    'ℹ pass 2\nℹ fail 0\nℹ skipped 1\n',
    { runner: 'node --test', verdict: 'passed', passed: 2, failed: 0, skipped: 1 },
  ],
  ['bun test', 0, ' 4 pass\n 0 fail\n', { runner: 'bun test', verdict: 'passed', passed: 4, failed: 0 }],
  ['npm test', 0, 'fine\n', { runner: 'npm test', verdict: 'passed' }],
  ['make test', 2, 'make: *** [test] Error 2\n', { runner: 'make test', verdict: 'failed' }],
  ['cd app && CI=1 npm test', 1, '', { runner: 'npm test', verdict: 'failed' }],
  ['npm run build && npm test', 1, '', { runner: 'npm test', verdict: 'unknown' }],
  ['npm test && npm run lint', 1, '', { runner: 'npm test', verdict: 'unknown' }],
  ['npm test && git commit -m done', 0, '', { runner: 'npm test', verdict: 'passed' }],
  ['npm test || true', 0, '', { runner: 'npm test', verdict: 'unknown' }],
  ['npm test; echo done', 0, '', { runner: 'npm test', verdict: 'unknown' }],
  [
    'pytest | tail -5',
    0,
    '1 failed, 2 passed in 1.00s\n',
    { runner: 'pytest', verdict: 'failed', passed: 2, failed: 1 },
  ],
  [
    'pytest 2>&1 | tail -5',
    0,
    '2 passed in 1.00s\n',
    { runner: 'pytest', verdict: 'passed', passed: 2, failed: 0 },
  ],
  ['npm test 2>&1', 0, '', { runner: 'npm test', verdict: 'passed' }],
  ['npm test', null, '', { runner: 'npm test', verdict: 'unknown' }],
  ['timeout 60 npx jest --ci', 0, '', { runner: 'jest', verdict: 'passed' }],
  ['node test.js', 0, '2 tests passed\n', { runner: 'test.js', verdict: 'passed' }],
  ['node test.js', 1, 'AssertionError\n', { runner: 'test.js', verdict: 'failed' }],
  ['node --import tsx src/average.test.ts', 0, '', { runner: 'src/average.test.ts', verdict: 'passed' }],
  ['node tests/run.js', 0, '', { runner: 'tests/run.js', verdict: 'passed' }],
  ['npx tsx test/average.spec.ts', 0, '', { runner: 'test/average.spec.ts', verdict: 'passed' }],
  ['deno run -A shop.test.ts', 0, '', { runner: 'shop.test.ts', verdict: 'passed' }],
  [
    'python3 test_shop.py',
    0,
    'Ran 5 tests in 0.001s\n\nOK\n',
    { runner: 'unittest', verdict: 'passed', passed: 5, failed: 0, skipped: 0 },
  ],
  ['python -u tests/test_setup.py', 0, '', { runner: 'tests/test_setup.py', verdict: 'passed' }],
  ['python manage.py test shop', 0, '', { runner: 'django test', verdict: 'passed' }],
  ['bash run-tests.sh --fast', 0, '', { runner: 'run-tests.sh', verdict: 'passed' }],
  ['bash -euo pipefail scripts/test.sh', 2, '', { runner: 'scripts/test.sh', verdict: 'failed' }],
  ['./run_tests.sh > log.txt 2>&1', 0, '', { runner: './run_tests.sh', verdict: 'passed' }],
  ['cd app && ./runTests.sh', 0, '', { runner: './runTests.sh', verdict: 'passed' }],
  ['ruby test/shop_test.rb', 0, '', { runner: 'test/shop_test.rb', verdict: 'passed' }],
  ['npm run unit-tests', 0, '', { runner: 'npm test', verdict: 'passed' }],
  ['npm run e2e:test -- --headed', 0, '', { runner: 'npm test', verdict: 'passed' }],
  ['npm --prefix app run -s test:unit', 0, '', { runner: 'npm test', verdict: 'passed' }],
  ['npm -w shop test', 0, '', { runner: 'npm test', verdict: 'passed' }],
  ['yarn workspace shop test', 0, '', { runner: 'yarn test', verdict: 'passed' }],
  ['pnpm --filter shop unit-test', 0, '', { runner: 'pnpm test', verdict: 'passed' }],
  ['bun run test:unit', 0, '', { runner: 'bun test', verdict: 'passed' }],
  ['deno task test', 0, '', { runner: 'deno test', verdict: 'passed' }],
  ['make -C app -j4 test-unit', 0, '', { runner: 'make test', verdict: 'passed' }],
  ['make check', 0, '', { runner: 'make test', verdict: 'passed' }],
  ['just test', 0, '', { runner: 'just test', verdict: 'passed' }],
  ['./gradlew :app:testDebugUnitTest', 0, '', { runner: 'gradle test', verdict: 'passed' }],
  ['./gradlew clean test', 0, '', { runner: 'gradle test', verdict: 'passed' }],
  ['mvn -q verify', 0, '', { runner: 'mvn test', verdict: 'passed' }],
  ['cargo nextest r -p shop', 0, '', { runner: 'cargo test', verdict: 'passed' }],
  ['npx nx run test shop', 0, '', { runner: 'nx test', verdict: 'passed' }],
  ['bundle exec rails test', 0, '', { runner: 'rails test', verdict: 'passed' }],
];

const none: readonly string[] = [
  'npm install --save-dev vitest',
  'pip install pytest',
  'cat vitest.config.ts',
  'grep -r pytest .',
  'npx vitest --version',
  'jest --listTests',
  'echo "npm test"',
  "git commit -m 'run npm test && pytest'",
  'ls tests',
  'test -f package.json',
  'node --check test.js',
  'node -e "require(\'./test.js\')"',
  'node latest.js',
  'node tests/server.js',
  'node make-test-data.js',
  'node contest.js',
  'python -m py_compile test_shop.py',
  'python tests/conftest.py',
  'bash -n run-tests.sh',
  'bash setup-test-db.sh',
  './tests/setup.sh',
  'vim test.js',
  'npm run build',
  'npm run latest',
  'npm run test:lint',
  'npm install test',
  'yarn add test',
  'make -n test',
  'make test-data',
  './gradlew build -x test',
  'mvn -DskipTests verify',
  '',
];

describe('a command line is a test run', () => {
  it.each(rows)('%s (exit %s)', (command, exitCode, output, expected) => {
    expect(testRunOf(command, exitCode, output)).toEqual(expected);
  });
});

describe('a command line is no test run', () => {
  it.each(none)('%s', (command) => {
    expect(testRunOf(command, 0, 'Tests  3 passed (3)\n')).toBeUndefined();
  });
});
