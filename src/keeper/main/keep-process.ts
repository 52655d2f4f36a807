import { dirname } from 'node:path';
import { withinMs } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { systemClock } from '../../base/system-clock.js';
import { HostBackend } from '../../processes/host/host-backend.js';
import { type ProcessBackend, signalNamed } from '../../processes/process-handle.js';
import type { ProcessRecord } from '../../processes/process-record.js';
import { ProcessRun } from '../../processes/process-run.js';
import { ProcessStore } from '../../processes/process-store.js';
import { ownIdentity, processState } from '../../store/process-identity.js';
import { FULL_DISK_LIMIT_MS, KeeperSocket } from '../wire/keeper-socket.js';
import type { ProcessLaunch } from '../wire/launch-input.js';

export interface KeepProcessOptions {
  readonly statePath: string;
  readonly logger: Logger;
  /** Called once, when the process runs and can be reached. */
  readonly onReady: (record: ProcessRecord) => void;
  /** Called with the run, by which a signal to this process ends it. */
  readonly onRun: (run: ProcessRun) => void;
}

const clock = systemClock;

/** Keeps one process until it has ended. Rejects when it could not be started, with nothing left behind. */
export async function keepProcess(launch: ProcessLaunch, options: KeepProcessOptions): Promise<void> {
  const { statePath, logger, onReady, onRun } = options;
  const { spec, maxOutputBytes } = launch;
  const record: ProcessRecord = { ...launch.record, owner: await ownIdentity() };
  const backend = await backendFor(record, launch, logger);
  const parts = { store: new ProcessStore(statePath), clock, logger, maxOutputBytes };
  const run = await ProcessRun.start(parts, record, (sink) => backend.spawn(spec, sink));
  onRun(run);
  const socket = new KeeperSocket({
    path: launch.record.socket_path,
    clock,
    logger,
    record: () => run.record,
    handlers: {
      give: (input) => run.give(input),
      signal: async ({ name }) => run.signal(signalNamed(name)),
      end: async ({ first }) => run.kill(signalNamed(first)),
      stats: () => run.stats(),
      printed: ({ beyond, limit_ms: limitMs }) => run.printed(beyond, limitMs),
      screen: () => run.screen(),
    },
  });
  await socket.listen();
  onReady(run.record);
  await run.ended;
  // The socket still serves the end, which is known nowhere else until it is on disk.
  socket.sendRecord('all');
  await withinMs(clock, FULL_DISK_LIMIT_MS, run.recorded);
  await socket.finish();
  await backend.dispose();
}

async function backendFor(
  { mode, owner }: ProcessRecord,
  { record, shell, containers: { engine: settings, ownerId: id, image } }: ProcessLaunch,
  logger: Logger,
): Promise<Pick<ProcessBackend, 'spawn' | 'dispose'>> {
  if (mode === 'host') {
    const pipeFolder = dirname(record.socket_path);
    return new HostBackend({ clock, shell, startedSince: owner.start_time ?? undefined, pipeFolder });
  }
  const [{ DockerBackend }, { DockerEngine }] = await Promise.all([
    import('../../processes/docker/docker-backend.js'),
    import('../../processes/docker/engine.js'),
  ]);
  const engine = new DockerEngine({ settings, clock });
  // Its container is left alone by all servers while this keeper lives.
  return new DockerBackend({
    engine,
    owner: { id, keeper: owner },
    image,
    logger,
    keeperState: processState,
  });
}
