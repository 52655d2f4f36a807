/** A file of src that behaves otherwise on macOS, and the test that runs that branch on Linux. */
export interface PlatformBranch {
  readonly file: string;
  readonly test: string;
  /** What the test names: a function, or the platform that it passes. */
  readonly names: string;
}

/** Every branch for macOS; a new one needs a row here, and a test over what macOS answers. */
export const platformBranches: readonly PlatformBranch[] = [
  { file: 'claude/sandbox/check-sandbox.ts', test: 'cli/init/init.test.ts', names: 'darwin' },
  { file: 'cli/board.ts', test: 'cli/browser.test.ts', names: 'darwin' },
  { file: 'clients/chat-clients.ts', test: 'chat-clients/clients.test.ts', names: 'darwin' },
  { file: 'doctor/check.ts', test: 'doctor/system-commands.test.ts', names: 'darwin' },
  {
    file: 'keeper/notices/open-notices.ts',
    test: 'keeper/notices/desktop-notice.test.ts',
    names: 'darwin',
  },
  // With CLAUDE_CODE_BRIDGE_PROCESS_TABLE=ps the end-to-end tests take this branch.
  { file: 'os/process-source.ts', test: '../vitest.config.ts', names: 'CLAUDE_CODE_BRIDGE_PROCESS_TABLE' },
  { file: 'os/ps-source.ts', test: 'parts/os/process-sources.test.ts', names: 'parsePs' },
  {
    file: 'processes/host/process-stats.ts',
    test: 'processes/host/system-tables.test.ts',
    names: 'portsInLsof',
  },
  { file: 'projects/path-opener.ts', test: 'parts/projects/path-opener.test.ts', names: 'darwin' },
  // Without a folder for pipes, which is the branch of macOS.
  { file: 'pty/spawn-piped.ts', test: 'processes/open-processes.ts', names: 'HostBackend' },
  { file: 'store/owner-state.ts', test: 'store/state-dir.test.ts', names: 'darwin' },
  {
    file: 'store/process-identity.ts',
    test: 'parts/store/process-identity.test.ts',
    names: 'machineIdInIoreg',
  },
];
