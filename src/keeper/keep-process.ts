import { dirname } from 'node:path';
import { systemClock } from '../base/clock.js';
import { lazily } from '../base/lazily.js';
import type { Logger } from '../base/logger.js';
import { HostBackend } from '../processes/host/host-backend.js';
import type { KeptContainers } from '../processes/docker/kept-containers.js';
import type { ProcessBackend } from '../processes/process-backend.js';
import type { KeptLaunch } from '../processes/process-keepers.js';
import type { ProcessRecord } from '../processes/process-record.js';
import { ProcessRun } from '../processes/process-run.js';
import { ProcessStore } from '../processes/process-store.js';
import { err, type Result } from '../processes/result.js';
import { ownIdentity } from '../store/process-identity.js';
import { ProcessKeeperServer } from './process-keeper-server.js';

export interface KeepProcessOptions extends KeptLaunch {
  readonly statePath: string;
  readonly shell: string;
  readonly maxOutputBytes: number;
  /** For a process in a container. */
  readonly containers?: KeptContainers;
  readonly logger: Logger;
  /** Told once it runs and can be reached. */
  readonly onReady: (record: ProcessRecord) => void;
  /** Told what ends it, for signals. */
  readonly onRun: (run: ProcessRun) => void;
}

/** Runs one process until it has ended. A fault when it could not be started, with nothing left behind. */
export async function keepProcess(options: KeepProcessOptions): Promise<Result<void>> {
  const clock = systemClock;
  const { logger, spec, maxOutputBytes } = options;
  const owner = await ownIdentity();
  const record: ProcessRecord = { ...options.record, owner };
  const { socket_path: socketPath } = record;
  if (socketPath === null)
    return err('SPAWN_FAILED', 'A process to be kept was given no socket.', 'Start it again.');
  const backend = await backendFor(record, options, dirname(socketPath));
  const started = await ProcessRun.start(
    {
      store: new ProcessStore(options.statePath),
      clock,
      logger,
      maxOutputBytes,
    },
    record,
    (sink) => backend.spawn(spec, sink),
  );
  if (!started.ok) return started;
  const run = started.value;
  options.onRun(run);
  const server = await ProcessKeeperServer.start(run, socketPath, clock);
  options.onReady(run.record);
  await run.ended;
  await server.end();
  await backend.dispose();
  return { ok: true, value: undefined };
}

async function backendFor(
  { mode, owner }: ProcessRecord,
  { shell, containers, logger }: KeepProcessOptions,
  pipeFolder: string,
): Promise<Pick<ProcessBackend, 'spawn' | 'dispose'>> {
  const clock = systemClock;
  if (mode === 'docker') {
    if (containers === undefined) throw new Error('No engine is known for a process in a container.');
    const { keptContainerBackend } = await import('../processes/docker/kept-containers.js');
    return keptContainerBackend(containers, { keeper: owner, clock, logger });
  }
  const terminals = lazily(async () => {
    const { PtyManager } = await import('../pty/pty-manager.js');
    return new PtyManager({ clock });
  });
  const startedSince = owner.start_time ?? undefined;
  return new HostBackend({ clock, terminals, shell, startedSince, pipeFolder });
}
