import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { createProcessId } from '../../../src/base/ids.js';
import { PtyManager } from '../../../src/pty/pty-manager.js';
import { HostBackend } from '../../../src/processes/host/host-backend.js';
import { describeProcessBackend } from '../../contracts/process-backend.js';
import type { BackendUnderTest } from '../../contracts/process-backend/under-test.js';
import { programsOnPath } from '../../harness/programs-on-path.js';

async function open(): Promise<BackendUnderTest> {
  const cwd = await mkdtemp(join(tmpdir(), 'host-'));
  const terminals = new PtyManager({ clock: systemClock });
  const backend = new HostBackend({
    clock: systemClock,
    terminals: async () => terminals,
    shell: '/bin/sh',
    killGraceMs: 500,
  });
  onTestFinished(async () => {
    await backend.dispose();
    terminals.dispose();
    await terminals.whenClosed();
    await rm(cwd, { recursive: true, force: true });
  });
  const path = process.env['PATH'] ?? '';
  return {
    backend,
    spec: (command, options = {}) => ({
      id: createProcessId(),
      command,
      cwd: options.cwd ?? cwd,
      env: { PATH: path, LANG: 'C.UTF-8', TERM: 'xterm-256color', HOME: cwd, ...options.env },
      ...(options.tty && { tty: options.tty }),
    }),
  };
}

describeProcessBackend(
  'host',
  { programs: programsOnPath(), leavesBehind: true, many: 20, exits: 100 },
  open,
);
