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
  // What may not have run is not known to have passed.
  ['true || npx vitest run', 0, '', { runner: 'vitest', verdict: 'unknown' }],
  ['[ -d . ] || npm test', 0, '', { runner: 'npm test', verdict: 'unknown' }],
  ['which pytest || pytest', 0, '/usr/bin/pytest\n', { runner: 'pytest', verdict: 'unknown' }],
  ['true || cd app && npm test', 0, '', { runner: 'npm test', verdict: 'unknown' }],
  ['exit 0; npm test', 0, '', { runner: 'npm test', verdict: 'unknown' }],
  ['exec true; npm test', 0, '', { runner: 'npm test', verdict: 'unknown' }],
  ['npm() { return 0; }; npm test', 0, '', { runner: 'npm test', verdict: 'unknown' }],
  ['function npm { true; }\nnpm test', 0, '', { runner: 'npm test', verdict: 'unknown' }],
  ['alias pytest=true; pytest', 0, '', { runner: 'pytest', verdict: 'unknown' }],
  ['exec > log 2>&1; npm test', 0, '', { runner: 'npm test', verdict: 'passed' }],
  ['exec npm test', 0, '', { runner: 'npm test', verdict: 'passed' }],
  ['set -n; npm test', 0, '', { runner: 'npm test', verdict: 'unknown' }],
  ['cd app || exit; npm test', 0, '', { runner: 'npm test', verdict: 'passed' }],
  ['cd app || { echo no; exit 1; }; npm test', 0, '', { runner: 'npm test', verdict: 'passed' }],
  ['set -e; npm test', 0, '', { runner: 'npm test', verdict: 'passed' }],
  ['npm run lint || true; npm test', 0, '', { runner: 'npm test', verdict: 'passed' }],
  // No test ran.
  [
    'node --test',
    0,
    'ℹ tests 0\nℹ pass 0\nℹ fail 0\nℹ skipped 0\n',
    { runner: 'node --test', verdict: 'unknown', passed: 0, failed: 0, skipped: 0 },
  ],
  [
    'vitest run --passWithNoTests',
    0,
    'No test files found, exiting with code 0\n',
    { runner: 'vitest', verdict: 'unknown' },
  ],
  [
    'npx jest --passWithNoTests',
    0,
    'No tests found, exiting with code 0\n',
    { runner: 'jest', verdict: 'unknown' },
  ],
  ['go test ./...', 0, '?   \tx\t[no test files]\n', { runner: 'go test', verdict: 'unknown' }],
  ['go test -run X ./...', 0, 'ok  \tx\t0.1s [no tests to run]\n', { runner: 'go test', verdict: 'unknown' }],
  ['go test ./...', 0, '?   \tx\t[no test files]\nok  \ty\t0.1s\n', { runner: 'go test', verdict: 'passed' }],
  // What another command printed are no counts.
  [
    'echo "Tests:       5 passed, 5 total"; npm test || true',
    0,
    'Tests:       5 passed, 5 total\n',
    { runner: 'npm test', verdict: 'unknown' },
  ],
  [
    'cat old.log; pytest -q || true',
    0,
    '5 passed in 0.1s\nERROR: x\n',
    { runner: 'pytest', verdict: 'unknown' },
  ],
  [
    'pytest -q > /dev/null || echo "5 passed in 0.1s"',
    0,
    '5 passed in 0.1s\n',
    { runner: 'pytest', verdict: 'unknown' },
  ],
  [
    'echo "Tests:"; npm test',
    0,
    'Tests:\nTests:       5 passed, 5 total\n',
    { runner: 'jest', verdict: 'passed', passed: 5, failed: 0 },
  ],
  [
    "cat > a.test.js <<'EOF'\ntest('5 passed');\nEOF\nnpx jest",
    0,
    'Tests:       5 passed, 5 total\n',
    { runner: 'jest', verdict: 'passed', passed: 5, failed: 0 },
  ],
  [
    'npx jest; echo "exit: $?"',
    0,
    'Tests:       5 passed, 5 total\nexit: 0\n',
    { runner: 'jest', verdict: 'passed', passed: 5, failed: 0 },
  ],
  ['npm test # all of them', 1, '', { runner: 'npm test', verdict: 'failed' }],
  ['cargo test -- list_of_shops', 0, '', { runner: 'cargo test', verdict: 'passed' }],
  ['go test -count=1 ./...', 0, 'ok  \ty\t0.1s\n', { runner: 'go test', verdict: 'passed' }],
  ['ctest -V', 0, '', { runner: 'ctest', verdict: 'passed' }],
  ['gradle check -x lint', 0, '', { runner: 'gradle test', verdict: 'passed' }],
  ['bundle exec rails test', 0, '', { runner: 'rails test', verdict: 'passed' }],
];

/** Two test runs in a line, or two summaries of one. */
const twice: readonly Row[] = [
  [
    './vitest a && ./vitest b',
    1,
    '      Tests  3 passed (3)\n      Tests  1 failed (1)\n',
    { runner: 'vitest', verdict: 'failed', passed: 3, failed: 1 },
  ],
  [
    'pytest unit && pytest integration',
    1,
    '3 passed in 0.01s\n1 failed in 0.01s\n',
    { runner: 'pytest', verdict: 'failed', passed: 3, failed: 1 },
  ],
  [
    'cd a && npx vitest run; cd ../b && npx vitest run',
    1,
    ' Tests  3 passed (3)\n Tests  1 failed (1)\n',
    { runner: 'vitest', verdict: 'failed', passed: 3, failed: 1 },
  ],
  [
    'npm test --workspaces | tail -50',
    0,
    ' Tests  3 passed (3)\nTests:       1 failed, 1 total\n',
    { runner: 'vitest', verdict: 'failed', passed: 3, failed: 1 },
  ],
  [
    'npx vitest run; npx jest | tail -3',
    0,
    ' Tests  1 failed (1)\nTests:       2 passed, 2 total\n',
    { runner: 'vitest', verdict: 'failed', passed: 2, failed: 1 },
  ],
  ['npm run test:a && npm run test:b', 0, '', { runner: 'npm test', verdict: 'passed' }],
  ['npm run test:a && npm run test:b', 1, '', { runner: 'npm test', verdict: 'failed' }],
  ['npm run test:a; npm run test:b', 0, '', { runner: 'npm test', verdict: 'unknown' }],
  // One of them did not say how it ended.
  [
    'pytest a; pytest b | tail -1',
    0,
    'Aborted\n3 passed in 0.01s\n',
    { runner: 'pytest', verdict: 'unknown', passed: 3, failed: 0 },
  ],
  [
    'pytest a && pytest b',
    1,
    '3 passed in 0.01s\nAborted\n',
    { runner: 'pytest', verdict: 'failed', passed: 3, failed: 0 },
  ],
  [
    'set -o pipefail; npx vitest run | tail -5',
    1,
    ' Tests  3 passed (3)\n',
    { runner: 'vitest', verdict: 'unknown', passed: 3, failed: 0 },
  ],
  [
    'npm test && git commit -m done',
    1,
    ' Tests  3 passed (3)\nnothing to commit\n',
    { runner: 'vitest', verdict: 'passed', passed: 3, failed: 0 },
  ],
];

/** A suite that could not be loaded has no test that failed. */
const broken: readonly Row[] = [
  [
    'npx vitest run 2>&1 | tail -8',
    0,
    ' Test Files  1 failed | 1 passed (2)\n      Tests  1 passed (1)\n',
    { runner: 'vitest', verdict: 'failed', passed: 1, failed: 1 },
  ],
  [
    'npx vitest run | tail -8',
    0,
    ' Test Files  1 passed (1)\n      Tests  1 passed (1)\n     Errors  1 error\n',
    { runner: 'vitest', verdict: 'failed', passed: 1, failed: 1 },
  ],
  [
    'npx vitest run | tail -8',
    0,
    ' Test Files  1 failed (1)\n      Tests  no tests\n',
    { runner: 'vitest', verdict: 'failed', failed: 1 },
  ],
  [
    'npx jest | tail',
    0,
    'Test Suites: 1 failed, 1 passed, 2 total\nTests:       4 passed, 4 total\n',
    { runner: 'jest', verdict: 'failed', passed: 4, failed: 1 },
  ],
  [
    'go test -v ./... | tail',
    0,
    '--- PASS: TestA (0.00s)\nok  \ta\t0.1s\nFAIL\tb [build failed]\n',
    { runner: 'go test', verdict: 'failed', passed: 1, failed: 1, skipped: 0 },
  ],
  [
    'node --test | tail',
    0,
    '# pass 2\n# fail 0\n# cancelled 1\n# skipped 0\n',
    { runner: 'node --test', verdict: 'failed', passed: 2, failed: 1, skipped: 0 },
  ],
];

/** Lines that end with 0 and need not have run the program of the name `npm`. */
const perhapsNotRun: readonly string[] = [
  'command -v nope || exit 0; npm test',
  'cd nope 2>/dev/null || exit 0\nnpm test',
  'test -d nope || exit 0; npm test',
  'cd app || { echo no; exit; }; npm test',
  'if [ ! -d nope ]; then exit 0; fi; npm test',
  'exit 256; npm test',
  'exit $code; npm test',
  '\\exit 0; npm test',
  'builtin exit 0; npm test',
  '"exit" 0; npm test',
  'exit>o; npm test',
  'eval exit 0; npm test',
  "eval 'npm() { :; }'; npm test",
  'if true; then npm() { :; }; fi; npm test',
  'hash -p /bin/true npm; npm test',
  'enable -f x npm; npm test',
  'PATH=fake:$PATH npm test',
  'export PATH=fake:$PATH; npm test',
  'set -o noexec; npm test',
  'set -t; npm test',
  "trap 'exit 0' DEBUG; npm test",
  'command exec true; npm test',
  'true || { echo no; npm test; }',
  'true || (echo no; npm test)',
  'true || bash -c "echo no; npm test"',
  'echo $(cd app; npm test && true)',
  '! npm test',
  'npm test; code=$?',
  'npm test; X=1;',
  'if npm test; then echo yes; fi',
  'if [ -f nope ]; then npm test; fi',
  'npm test && PATH=fake npm test',
  'npm test && '.repeat(300) + 'npm test',
];

/** Who printed them is not known. */
const forged: readonly Row[] = [
  ...[
    'true || npm test; cat old.log',
    "node -e 'console.log(1)'; false && npm test; true",
    'true || npm test; ./print-it',
    'false && npm test; git log -1; true',
    ...['awk 1', 'sed -n p', 'grep .', 'tac', 'base64 -d', '\\cat', "'cat'", '/bin/cat', 'tail -5'].map(
      (program) => `npm test || true; ${program} old.log`,
    ),
    'npm test || true; tee < old.log',
    "npm test || true; python3 -c 'print(1)'",
    'npm test || true; cat old.log 2>/dev/null',
    'FAILS=1 npm test > o 2>&1; cat forged.txt',
    'npm test > o; cat o forged.txt',
    'npm test >/dev/null || cat forged.txt',
    'npm test >/dev/null; npm run report',
    'npm test | cat forged.txt',
    'npm test || ./print-it',
    'npm test || true; echo "$TEXT"',
    "npm test || true; printf ' Tests  9'; echo ' passed (9)'",
  ].map((line): Row => [line, 0, ' Tests  9 passed (9)\n', { runner: 'npm test', verdict: 'unknown' }]),
];

/** Nobody else of the line can have printed them. */
const genuine: readonly Row[] = [
  ...[
    'npm test > o 2>&1; tail -5 o',
    'npm test > o 2>&1 || cat o',
    'npm test | tee o; tail -5 o',
    'npm run build && npm test | tail -5',
    'npx tsc --noEmit; npm test | tail -5; npm run lint',
    'cd app && npm test 2>&1 | grep -E "Tests|failed" | head -3; echo done',
    'npm test 2>&1 | tail -5; echo "exit: $? ${PIPESTATUS[0]}"',
    'npm test; code=$?; echo "exit: $code ${code}"; exit $code',
    'npm test || true',
    '[ -d app ] && npm test || true',
    'eval "$(setup)" > /dev/null; npm test || true',
  ].map((line): Row => [
    line,
    0,
    ' Tests  9 passed (9)\n',
    { runner: 'vitest', verdict: 'passed', passed: 9, failed: 0 },
  ]),
  [
    'npm test | tee o; tail -5 o',
    0,
    ' Tests  9 passed (9)\n Tests  9 passed (9)\n',
    { runner: 'vitest', verdict: 'passed', passed: 9, failed: 0 },
  ],
  [
    'npm run build && npm test',
    1,
    ' Tests  1 failed | 2 passed (3)\n',
    { runner: 'vitest', verdict: 'failed', passed: 2, failed: 1 },
  ],
];

/** Each is all that a run printed that ended with 0 and ran no test. */
const ranNone: readonly string[] = [
  '0 examples, 0 failures',
  '0 tests, 0 failures',
  '0 runs, 0 assertions, 0 failures',
  'No tests were found!!!',
  'ok | 0 passed | 0 failed (2ms)',
  'Executed 0 tests, with 0 failures',
  'No test matches the given testcase filter',
  '[INFO] No tests to run.',
  '[INFO] Tests are skipped.',
  '> Task :test NO-SOURCE',
  'Result: NOTESTS',
  '1..0',
  'No tests executed!',
];

const notStarted: readonly Row[] = [
  ['yarn test', 127, 'yarn: command not found\n', { runner: 'yarn test', verdict: 'unknown' }],
  ['./run-tests.sh', 126, 'Permission denied\n', { runner: './run-tests.sh', verdict: 'unknown' }],
  [
    'cd /elsewhere && npm test',
    1,
    '/bin/bash: line 1: cd: /elsewhere: No such file or directory\n',
    { runner: 'npm test', verdict: 'unknown' },
  ],
  ['cd /elsewhere 2>/dev/null && npm test', 1, '', { runner: 'npm test', verdict: 'unknown' }],
  ['source setup.sh && npm test', 1, '', { runner: 'npm test', verdict: 'unknown' }],
  ['. ./setup.sh; npm test', 1, '', { runner: 'npm test', verdict: 'unknown' }],
];

/** Around a command. */
const wrapped: readonly string[] = [
  'FOO="a b" npm test',
  "FOO='a; b' BAR=$HOME npm test",
  'nice -n 5 npm test',
  'nice -10 npm test',
  'env -u X Y=1 npm test',
  'nohup npm test',
  'stdbuf -oL npm test',
  'timeout -k 5 60 npm test',
  'time -p npm test',
  '(cd app && npm test)',
  '(cd app && npm test) 2>&1',
  '{ cd app; npm test; }',
  '"npm" test',
  'bash -c "npm test"',
  "bash -lc 'cd app && npm test' 2>&1",
  'npm test;',
  'X=1; npm test',
  'npm test \\\n  --silent\n',
  'npm  run   test',
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
  'cargo test --no-run',
  'cargo nextest list',
  'go test -c ./...',
  'go test -list . ./...',
  'go test -run=^$ ./...',
  'pytest --co -q',
  'pytest --fixtures',
  'pytest -V',
  'jest -v',
  'vitest typecheck',
  'dotnet test --list-tests',
  'ctest -N',
  'tox -l',
  'tox list',
  'prove --dry t',
  'bats -c x.bats',
  'phpunit --list-suites',
  'npm test -- --listTests',
  'gradle test -x test',
  'gradle check -x test',
  'gradle test --dry-run',
  'turbo run test --dry=json',
  'npm run test --if-present',
  'pytest --collectonly',
  'pytest "--collect-only"',
  'make -q test',
  'make -t test',
  'make --touch test',
  'make --recon test',
  'make --question test',
  'make -nk test',
  'make -kn test',
  'make -Bn test',
  'make -pn test',
  '# npm test',
  'echo hi # ; npm test',
  'cat <<EOF\nnpm test\nEOF',
  "cat >> README.md <<-'THE END'\n\tnpm test\n\tTHE END\necho done",
  'cat <<A <<B\nnpm test\nA\npytest\nB',
  '',
];

describe('a command line is a test run', () => {
  it.each([...rows, ...twice, ...broken, ...forged, ...genuine, ...notStarted])(
    '%s (exit %s)',
    (command, exitCode, output, expected) => {
      expect(testRunOf(command, exitCode, output)).toEqual(expected);
    },
  );

  it.each(wrapped)('%j, whatever stands around it', (command) => {
    expect(testRunOf(command, 0, '')).toEqual({ runner: 'npm test', verdict: 'passed' });
    expect(testRunOf(command, 1, '')).toEqual({ runner: 'npm test', verdict: 'failed' });
  });

  it.each([
    'if npm test; then echo yes; fi',
    'for app in a b; do npm test; done',
    'while ! npm test; do sleep 1; done',
  ])('%s, whose counts alone say how it ended', (command) => {
    expect(testRunOf(command, 0, '')).toEqual({ runner: 'npm test', verdict: 'unknown' });
    const counts = { verdict: 'passed', passed: 3, failed: 0 };
    expect(testRunOf(command, 0, ' Tests  3 passed (3)\n')).toMatchObject(counts);
  });
});

describe('a test run is not known to have passed', () => {
  it.each(perhapsNotRun)('by the exit code of %.100j', (command) => {
    expect(testRunOf(command, 0, '')).toEqual({ runner: 'npm test', verdict: 'unknown' });
  });

  it.each(ranNone)('when it printed %j alone', (output) => {
    expect(testRunOf('npm test', 0, `${output}\n`)).toEqual({ runner: 'npm test', verdict: 'unknown' });
  });

  it.each([
    '[INFO] No tests to run.\nTests run: 5, Failures: 0\n',
    '> Task :a:test NO-SOURCE\n> Task :b:test\n',
  ])('but is when a part of it ran tests: %j', (output) => {
    expect(testRunOf('npm test', 0, output)).toEqual({ runner: 'npm test', verdict: 'passed' });
  });
});

describe('a command line is no test run', () => {
  it.each(none)('%s', (command) => {
    expect(testRunOf(command, 0, 'Tests  3 passed (3)\n')).toBeUndefined();
  });
});
