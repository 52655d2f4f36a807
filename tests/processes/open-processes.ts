import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import { systemClock } from '../../src/base/system-clock.js';
import { HostBackend } from '../../src/processes/host/host-backend.js';
import type { ProcessKeepers } from '../../src/processes/process-handle.js';
import { ProcessManager, type ProcessManagerParts } from '../../src/processes/process-manager.js';
import { ProcessService } from '../../src/processes/process-service.js';
import { ProcessStore } from '../../src/processes/process-store.js';
import { ActiveProject } from '../../src/projects/active-project.js';
import { AllowedRoots } from '../../src/projects/allowed-roots.js';
import { childEnvironment } from '../../src/pty/child-env.js';
import { killTree } from '../../src/pty/kill-ladder.js';
import { PtyManager } from '../../src/pty/pty-manager.js';
import { ownIdentity, processState } from '../../src/store/process-identity.js';
import { Requests } from '../../src/store/requests.js';
import { tempFolder } from '../harness/temp-folder.js';

const noKeepers: ProcessKeepers = {
  keep: () => Promise.reject(new Error('this test keeps nothing')),
  reach: async () => undefined,
};

/** Manager and service over real processes, in folders of their own. */
export async function openProcesses(
  parts: Partial<ProcessManagerParts> & { readonly statePath?: string } = {},
) {
  const root = await tempFolder();
  const statePath = parts.statePath ?? join(root, 'state');
  const project = join(root, 'project');
  await mkdir(project);
  await mkdir(statePath, { recursive: true });
  const terminals = new PtyManager({ clock: systemClock });
  const host = new HostBackend({
    clock: systemClock,
    terminals: async () => terminals,
    shell: '/bin/sh',
    killGraceMs: 500,
  });
  const store = new ProcessStore(statePath);
  const manager = new ProcessManager({
    store,
    clock: systemClock,
    logger: silentLogger,
    owner: await ownIdentity(),
    ownerState: processState,
    environment: (mark, extra) =>
      childEnvironment({ PATH: process.env['PATH'], HOME: root }, { mark, extra }),
    backends: {
      host: async () => host,
      docker: async () => Promise.reject(new Error('no engine in this test')),
    },
    keepers: noKeepers,
    endMarked: async (mark, startedSince) =>
      (await killTree({ mark, startedSince, clock: systemClock, graceMs: 200 })).ended.length,
    socketPath: (id) => join(root, `${id}.sock`),
    maxOutputBytes: 64 * 1024 * 1024,
    historySize: 50,
    maxHistoryBytes: 1024 * 1024 * 1024,
    ...parts,
  });
  onTestFinished(async () => {
    await manager.dispose();
    terminals.dispose();
    await terminals.whenClosed();
  });
  const active = new ActiveProject(new AllowedRoots([root], root));
  await active.set(project);
  const { once } = new Requests(statePath, systemClock);
  const service = new ProcessService({ manager, clock: systemClock, project: active, once });
  const never = new AbortController().signal;
  return {
    root,
    statePath,
    project,
    store,
    manager,
    service,
    never,
    /** Runs a text of `sh`, and waits for its end unless `limitMs` is 0. */
    sh: async (script: string, limitMs = 10_000, more: { tty?: true; keep?: boolean } = {}) =>
      await service.spawn(
        {
          mode: 'host',
          command: ['/bin/sh', '-c', script],
          commandLine: script,
          env: {},
          keep: more.keep ?? false,
          ...(more.tty && { tty: { columns: 80, rows: 24 } }),
        },
        limitMs,
        never,
      ),
    output: async (id: string, query: Partial<Parameters<ProcessService['output']>[0]> = {}) =>
      await service.output(
        { id, lines: 100, maxBytes: 8_192, isRegex: false, screen: false, ...query },
        never,
      ),
  };
}
