import { closeSync, writeSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { systemClock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import { createStderrLogger } from '../base/logger.js';
import type { ProcessRun } from '../processes/process-run.js';
import type { ProcessSpec } from '../processes/process-handle.js';
import { Heartbeat } from '../store/heartbeat.js';
import { keepProcess } from './keep-process.js';
import { keptLaunchSchema } from './process-messages.js';

/** The pipe on which the server that started this process waits for one line. */
const READY_FD = 3;

const [, , , statePath = ''] = process.argv;
const logger = createStderrLogger('info');
let run: ProcessRun | undefined;
let isReady = false;

function tellReady(message: unknown): void {
  if (isReady) return;
  isReady = true;
  try {
    writeSync(READY_FD, JSON.stringify(message));
    closeSync(READY_FD);
  } catch (fault) {
    // The server died while it waited: the process goes on without it.
    logger.warn('nobody waits for this keeper', { fault: messageOf(fault) });
  }
}

function endOnFault(fault: unknown): void {
  logger.error('a fault in the keeper', { fault: messageOf(fault) });
  void run?.kill('SIGTERM');
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void run?.kill('SIGTERM'));
// The terminal of whoever started the server may go: the process stays.
process.on('SIGHUP', () => undefined);
process.on('uncaughtException', endOnFault);
process.on('unhandledRejection', endOnFault);

try {
  const { record, spec, shell, maxOutputBytes, containers } = keptLaunchSchema.parse(
    JSON.parse(await text(process.stdin)),
  );
  const heartbeat = await Heartbeat.start({
    statePath,
    clock: systemClock,
    logger,
    ...(record.socket_path !== null && { socketPath: record.socket_path }),
  });
  process.once('exit', () => heartbeat.dispose());
  const { tty, ...rest } = spec;
  const whole: ProcessSpec = { ...rest, ...(tty !== undefined && { tty }) };
  const done = await keepProcess({
    record,
    spec: whole,
    statePath,
    shell,
    maxOutputBytes,
    ...(containers !== undefined && { containers }),
    logger,
    onReady: (started) => tellReady({ record: started }),
    onRun: (started) => (run = started),
  });
  if (!done.ok) {
    const { code, message, hint } = done.fault;
    tellReady({ fault: { code, message, hint } });
  }
  process.exit(done.ok ? 0 : 1);
} catch (fault) {
  tellReady({
    fault: { code: 'SPAWN_FAILED', message: `The keeper failed: ${messageOf(fault)}.`, hint: 'Try again.' },
  });
  process.exit(1);
}
