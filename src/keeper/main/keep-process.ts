import { dirname } from 'node:path';
import { withinMs } from '../../base/clock.js';
import { systemClock } from '../../base/system-clock.js';
import { BridgeError } from '../../base/errors.js';
import { lazily } from '../../base/lazily.js';
import type { Logger } from '../../base/logger.js';
import { HostBackend } from '../../processes/host/host-backend.js';
import type { ProcessBackend } from '../../processes/process-handle.js';
import type { ProcessRecord } from '../../processes/process-record.js';
import { ProcessRun } from '../../processes/process-run.js';
import { ProcessStore } from '../../processes/process-store.js';
import { ownIdentity } from '../../store/process-identity.js';
import { FULL_DISK_LIMIT_MS } from './full-disk-limit.js';
import { serveProcess } from './serve-process.js';
import type { KeptLaunch } from '../wire/process-messages.js';

export interface KeepProcessOptions {
  readonly statePath: string;
  readonly logger: Logger;
  /** Called once, when the process runs and can be reached. */
  readonly onReady: (record: ProcessRecord) => void;
  /** Called with the run, by which a signal to this process ends it. */
  readonly onRun: (run: ProcessRun) => void;
}

/** Keeps one process until it has ended. Rejects when it could not be started, with nothing left behind. */
export async function keepProcess(launch: KeptLaunch, options: KeepProcessOptions): Promise<void> {
  const clock = systemClock;
  const { logger } = options;
  const { spec, maxOutputBytes } = launch;
  const owner = await ownIdentity();
  const record: ProcessRecord = { ...launch.record, owner };
  const { socket_path: socketPath } = record;
  if (socketPath === null)
    throw new BridgeError(
      'SPAWN_FAILED',
      'A process was to be kept, but its record names no socket.',
      'Start it again.',
    );
  const backend = await backendFor(record, launch, dirname(socketPath), logger);
  const run = await ProcessRun.start(
    {
      store: new ProcessStore(options.statePath),
      clock,
      logger,
      maxOutputBytes,
    },
    record,
    (sink) => backend.spawn(spec, sink),
  );
  options.onRun(run);
  const socket = await serveProcess({ running: run, socketPath, clock, logger });
  options.onReady(run.record);
  await run.ended;
  // The socket still serves the end, which is known nowhere else until it is on disk.
  socket.sendChange();
  await withinMs(clock, FULL_DISK_LIMIT_MS, run.recorded);
  await socket.finish();
  await backend.dispose();
}

async function backendFor(
  { mode, owner }: ProcessRecord,
  { shell, containers }: KeptLaunch,
  pipeFolder: string,
  logger: Logger,
): Promise<Pick<ProcessBackend, 'spawn' | 'dispose'>> {
  const clock = systemClock;
  if (mode === 'docker') {
    if (containers === undefined) throw new Error('No engine is known for a process in a container.');
    const [{ DockerBackend }, { DockerEngine }] = await Promise.all([
      import('../../processes/docker/docker-backend.js'),
      import('../../processes/docker/engine/docker-engine.js'),
    ]);
    const engine = new DockerEngine({ settings: containers.engine, clock });
    // Its container is left alone by all servers while this keeper lives.
    const backend = new DockerBackend({
      engine,
      owner: { id: containers.ownerId, keeper: owner },
      clock,
      logger,
    });
    return {
      spawn: (spec, sink) => backend.spawn({ image: containers.image, ...spec }, sink),
      dispose: () => backend.dispose(),
    };
  }
  const terminals = lazily(async () => {
    const { PtyManager } = await import('../../pty/pty-manager.js');
    return new PtyManager({ clock });
  });
  const startedSince = owner.start_time ?? undefined;
  return new HostBackend({ clock, terminals, shell, startedSince, pipeFolder });
}
