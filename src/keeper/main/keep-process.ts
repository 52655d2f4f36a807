import { dirname } from 'node:path';
import { withinMs } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import { systemClock } from '../../base/system-clock.js';
import { signalNamed } from '../../processes/child-input.js';
import { HostBackend } from '../../processes/host/host-backend.js';
import type { ProcessBackend } from '../../processes/process-handle.js';
import type { ProcessRecord } from '../../processes/process-record.js';
import { ProcessRun } from '../../processes/process-run.js';
import { ProcessStore } from '../../processes/process-store.js';
import type { RunningProcess } from '../../processes/running-process.js';
import { ownIdentity } from '../../store/process-identity.js';
import { KeeperSocket } from '../wire/keeper-socket.js';
import {
  type KeptLaunch,
  PROCESS_PROTOCOL,
  type ProcessRequest,
  processRequestSchema,
} from '../wire/process-messages.js';
import { notUnderstood } from '../wire/wire-error.js';
import { FULL_DISK_LIMIT_MS } from './full-disk-limit.js';

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
  const socket = await serveProcess(run, socketPath, logger);
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
    const { image, ownerId: id } = containers;
    return new DockerBackend({ engine, owner: { id, keeper: owner }, image, clock, logger });
  }
  const startedSince = owner.start_time ?? undefined;
  return new HostBackend({ clock, shell, startedSince, pipeFolder });
}

/** Serves one process on a Unix socket, to any number of servers. `finish` sends all of them its last record. */
async function serveProcess(run: ProcessRun, path: string, logger: Logger): Promise<KeeperSocket> {
  const socket = new KeeperSocket({
    path,
    clock: systemClock,
    logger,
    record: () => ({ push: 'record', protocol: PROCESS_PROTOCOL, record: run.record }),
    answer: async (_peer, message) => {
      const request = processRequestSchema.safeParse(message);
      if (!request.success) throw notUnderstood('process', PROCESS_PROTOCOL, message);
      return { value: (await answer(run, request.data)) ?? null };
    },
  });
  await socket.listen();
  return socket;
}

async function answer(running: RunningProcess, request: ProcessRequest): Promise<unknown> {
  switch (request.method) {
    case 'write':
      return running.write(Buffer.from(request.bytes, 'base64'));
    case 'end_input':
      return running.endInput();
    case 'press':
      return running.press(request.keys);
    case 'resize':
      return running.resize(request.size);
    case 'signal':
      return running.signal(signalNamed(request.name), { tree: request.tree });
    case 'kill':
      return running.kill(signalNamed(request.first));
    case 'stats':
      return running.stats();
    case 'printed':
      return running.printed();
    case 'until_prints':
      return running.untilPrints(request.bytes, request.limit_ms);
    case 'screen':
      return running.screen();
  }
}
