import { constants } from 'node:os';
import type { Clock } from '../../base/clock.js';
import { BridgeError } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import type { RunningProcess } from '../../processes/running-process.js';
import { KeeperSocket } from '../wire/keeper-socket.js';
import { PROCESS_PROTOCOL, processRequestSchema, type ProcessRequest } from '../wire/process-messages.js';
import { notUnderstood, wireErrorOf } from '../wire/wire-error.js';

export interface ProcessKeeperServerOptions {
  readonly running: RunningProcess;
  readonly socketPath: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Serves one process on a Unix socket, to any number of servers. `finish` sends all of them its last record. */
export async function serveProcess({
  running,
  socketPath,
  clock,
  logger,
}: ProcessKeeperServerOptions): Promise<KeeperSocket> {
  const socket = new KeeperSocket({
    path: socketPath,
    clock,
    logger,
    record: () => ({ push: 'record', protocol: PROCESS_PROTOCOL, record: running.record }),
    answer: async (_peer, message) => {
      try {
        const request = processRequestSchema.safeParse(message);
        if (!request.success) throw notUnderstood('process', PROCESS_PROTOCOL, message);
        return { value: (await answer(running, request.data)) ?? null };
      } catch (error) {
        // In this protocol, unlike that of tasks, an error is called `fault`.
        return { fault: wireErrorOf(error) };
      }
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

function signalNamed(name: string): NodeJS.Signals {
  if (isSignal(name)) return name;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `There is no signal ${JSON.stringify(name)}.`,
    'Give one such as SIGTERM.',
  );
}

function isSignal(name: string): name is NodeJS.Signals {
  return Object.hasOwn(constants.signals, name);
}
