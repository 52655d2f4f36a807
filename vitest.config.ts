import { defineConfig } from 'vitest/config';
import { SLOW } from './tests/harness/slow.js';

const SECOND_MS = 1_000 * SLOW;

const shared = {
  exclude: ['**/node_modules/**', '.cache/**', 'dist/**'],
  // Beside other work a moment may take seconds; what is polled for comes at once otherwise.
  expect: { poll: { timeout: 30 * SECOND_MS } },
  // No module has effects of its own or holds what a test changes: to load all of them anew for each file is half of what
  // the unit tests cost.
  isolate: false,
  globalSetup: ['tests/harness/suite-folder.ts', 'tests/harness/find-needs.ts'],
  testTimeout: 45 * SECOND_MS,
  hookTimeout: 60 * SECOND_MS,
};

/** What starts processes gets a second try; a test that needs it is named as flaky. */
const withProcesses = { ...shared, retry: 1, testTimeout: 90 * SECOND_MS };

/** A part of the long form: the folder of that name, unless it runs tests of others. */
function long(name: string, more: object = {}): { test: object } {
  return {
    test: { ...withProcesses, name: `long-${name}`, include: [`tests/long/${name}/**/*.test.ts`], ...more },
  };
}

const PS_TABLE = { CLAUDE_CODE_BRIDGE_PROCESS_TABLE: 'ps' };

/** What the process table matters to. */
const aboutProcesses = [
  'tests/long/faults/{faults-machine,keeper-death}.test.ts',
  'tests/long/more/{inside-task,process-keeper,process-table}.test.ts',
  'tests/long/claude/real-claude.test.ts',
  'tests/parts/pty/kill-ladder.test.ts',
];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: ['tests/**/*.test.ts'],
          exclude: [...shared.exclude, 'tests/{parts,journeys,browser,long}/**'],
        },
      },
      // Real git, files, terminals and keepers.
      { test: { ...withProcesses, name: 'parts', include: ['tests/parts/**/*.test.ts'] } },
      // The built server, as its users meet it.
      { test: { ...withProcesses, name: 'journeys', include: ['tests/journeys/**/*.test.ts'] } },
      // The board in a real browser.
      { test: { ...withProcesses, name: 'browser', include: ['tests/browser/**/*.test.ts'] } },
      // The long form, by `npm run check:all`: see scripts/check/long-parts.ts.
      long('more'),
      long('claude'),
      long('docker'),
      // Each has up to three machines on the two cores of this one.
      long('machines', { fileParallelism: false, testTimeout: 300 * SECOND_MS }),
      long('board'),
      // One editor needs both cores: one file at a time.
      long('editors', { fileParallelism: false, hookTimeout: 120 * SECOND_MS }),
      long('packages'),
      long('hostile'),
      long('histories'),
      long('faults'),
      // Clients of other makers, which npm installs, and some of which take both cores; they write what they saw into one file.
      long('clients', { fileParallelism: false, testTimeout: 300 * SECOND_MS, hookTimeout: 600 * SECOND_MS }),
      long('soak', {
        include: ['tests/long/soak/**/*.test.ts', 'tests/long/histories/histories.test.ts'],
        testTimeout: 6 * 3_600 * SECOND_MS,
      }),
      // The contract of terminals on the second choice of a package, which is compiled.
      {
        test: {
          ...withProcesses,
          name: 'node-pty',
          include: ['tests/parts/pty/pty-session.test.ts'],
          globalSetup: [...shared.globalSetup, 'tests/harness/build-node-pty.ts'],
        },
      },
      // Of the part `ps` of the long form what takes seconds.
      {
        test: {
          ...withProcesses,
          name: 'gate-ps',
          env: PS_TABLE,
          include: ['tests/parts/pty/kill-ladder.test.ts', 'tests/long/more/process-table.test.ts'],
        },
      },
      // Without /proc, as on macOS: servers and keepers read the process table of `ps`.
      {
        test: {
          ...withProcesses,
          name: 'ps',
          env: PS_TABLE,
          include: aboutProcesses,
        },
      },
    ],
    reporters: ['default', './tests/harness/gate-reporter.ts'],
    // One more than the cores of a small machine: it works while the others wait.
    maxWorkers: 3,
  },
});
