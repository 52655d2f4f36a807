import { defineConfig } from 'vitest/config';

const shared = {
  exclude: ['**/node_modules/**', '.cache/**', 'dist/**'],
  // Beside other work a moment may take seconds; what is polled for comes at once otherwise.
  expect: { poll: { timeout: 30_000 } },
  // No module has effects of its own or holds what a test changes: to load all of them anew for each file is half of what
  // the unit tests cost.
  isolate: false,
};

const e2e = {
  ...shared,
  include: ['tests/e2e/**/*.test.ts'],
  globalSetup: [
    'tests/harness/suite-folder.ts',
    'tests/harness/fetch-claude-versions.ts',
    'tests/harness/find-docker-engine.ts',
  ],
  // The real CLI starts in 1 to 3 s on a busy two-core machine.
  testTimeout: 90_000,
  hookTimeout: 60_000,
};

/** End-to-end tests that the process table matters to; with `ps` the long form runs all others, too. */
const aboutProcesses = [
  'tests/e2e/{faults-kills,faults-machine,inside-task,keeper-death,process,process-keeper,process-table}.e2e.test.ts',
  'tests/e2e/real-claude{,-ends}.e2e.test.ts',
];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: ['tests/**/*.test.ts'],
          exclude: [
            ...shared.exclude,
            'tests/browser/**',
            'tests/clients/**',
            'tests/e2e/**',
            'tests/soak/**',
            'tests/specification/**',
            'tests/vscode/**',
          ],
          globalSetup: [
            'tests/harness/suite-folder.ts',
            'tests/harness/build-node-pty.ts',
            'tests/harness/find-docker-engine.ts',
          ],
          // What takes 2 s takes ten times as long on a machine that is busy with other work.
          testTimeout: 45_000,
        },
      },
      { test: { ...e2e, name: 'e2e' } },
      // Each example of the specification and of the README, as its user meets it.
      { test: { ...e2e, name: 'specification', include: ['tests/specification/**/*.test.ts'] } },
      // The board in a real browser.
      { test: { ...e2e, name: 'browser', include: ['tests/browser/**/*.test.ts'] } },
      // The extension in real editors.
      {
        test: {
          ...shared,
          name: 'vscode',
          include: ['tests/vscode/**/*.test.ts'],
          globalSetup: [
            'tests/harness/suite-folder.ts',
            'tests/harness/fetch-claude-versions.ts',
            'tests/harness/find-vscode.ts',
          ],
          testTimeout: 90_000,
          // An editor starts in 8 to 17 s, and in more on a busy machine.
          hookTimeout: 120_000,
          // One editor needs both cores: one file at a time, after all other tests.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      // The e2e tests without /proc, as on macOS: servers and keepers read the process table of `ps`.
      {
        test: {
          ...e2e,
          name: 'e2e-ps',
          env: { CLAUDE_CODE_BRIDGE_PROCESS_TABLE: 'ps' },
          include: process.env['SOAK'] === '1' ? e2e.include : aboutProcesses,
        },
      },
      // Clients that others make, by `npm run test:clients` alone.
      {
        test: {
          ...e2e,
          name: 'clients',
          include: process.env['CLIENTS'] === '1' ? ['tests/clients/**/*.test.ts'] : [],
          testTimeout: 300_000,
          // npm installs them when they are not there yet.
          hookTimeout: 600_000,
          // They write what they have seen into one file, and some take both cores.
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
      // Hours of faults, by `npm run test:soak` alone: a plain `vitest run` meets an empty project.
      {
        test: {
          ...shared,
          name: 'soak',
          include:
            process.env['SOAK'] === '1'
              ? [
                  'tests/soak/**/*.soak.test.ts',
                  'tests/approvals/allowed-lines.test.ts',
                  'tests/git/hostile.test.ts',
                ]
              : [],
          globalSetup: ['tests/harness/suite-folder.ts'],
          testTimeout: 6 * 3_600_000,
          hookTimeout: 60_000,
        },
      },
    ],
    // As many as the cores of a small machine. More would use the time in which tests wait, and need every test to bear that.
    maxWorkers: 2,
  },
});
