import '../../base/uncompiled-schemas.js';
import { appendFileSync, closeSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { messageOf } from '../../base/errors.js';
import { PROCESS_ID_PATTERN } from '../../base/ids.js';
import { boundedWriter, createStderrLogger, logLevelOf, stderrWriter } from '../../base/logger.js';
import { VERSION } from '../../base/package.js';
import { readEnvironment } from '../../config/own-places.js';
import { announce } from '../../store/owner-state.js';
import { ProcessStore } from '../../processes/process-store.js';
import { ensurePrivateFolder } from '../../store/private-folder.js';
import { ownIdentity } from '../../store/process-identity.js';
import { processLaunchSchema, taskLaunchSchema } from '../wire/launch-input.js';
import { READY_FD, type ReadyMessage, wireErrorOf } from '../wire/messages.js';

/** What this process keeps, once it runs. */
interface Hosted {
  /** Ends it, for a signal to this process. */
  readonly end: (signal: NodeJS.Signals) => void;
  /** Ends it after an error of this process. */
  readonly fail: (message: string) => void;
}

/** Far more than a keeper writes in weeks; an error that repeats must not fill the disk. */
const MAX_LOG_BYTES = 8 * 1024 * 1024;
const [, keeperEntry = '', id = '', statePath = '', runtimePath = '', level] = process.argv;
const isProcess = PROCESS_ID_PATTERN.test(id);
const logLevel = logLevelOf(level);
// The stderr of a task's keeper is its keeper.log already.
const write = isProcess ? appendToLog : stderrWriter(process.stderr);
const logger = createStderrLogger(logLevel, boundedWriter(write, MAX_LOG_BYTES));
let hosted: Hosted | undefined;
let isReady = false;

function say(message: ReadyMessage): void {
  writeSync(READY_FD, `${JSON.stringify(message)}\n`);
}

function sayLast(message: ReadyMessage): void {
  if (isReady) return;
  isReady = true;
  try {
    say(message);
    closeSync(READY_FD);
  } catch (error) {
    // The server died while it waited: what this keeper hosts continues without it.
    logger.warn('nothing waits for this keeper', { error: messageOf(error) });
  }
}

function appendToLog(line: string): void {
  try {
    appendFileSync(join(new ProcessStore(statePath).folder(id), 'keeper.log'), line, { mode: 0o600 });
  } catch {
    // A full disk, or the folder is not there yet or no longer: only the line is lost.
  }
}

function endOnError(what: string, error: unknown): void {
  logger.error(what, { error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  hosted?.fail(messageOf(error));
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => hosted?.end(signal));
// The terminal of the server may close; what this keeper hosts goes on.
process.on('SIGHUP', () => undefined);
process.on('uncaughtException', (error) => endOnError('an error in the keeper', error));
process.on('unhandledRejection', (error) => endOnError('an unhandled error in the keeper', error));

function logStart(): void {
  logger.info(`The keeper of ${id} started`, { version: VERSION, pid: process.pid });
}

async function keepThisTask(input: unknown): Promise<void> {
  const [{ keepTask }, { continueQueue }] = await Promise.all([
    import('./keep-task.js'),
    import('../host/keeper-host.js'),
  ]);
  logStart();
  const places = { statePath, runtimePath, env: readEnvironment(), logger };
  await keepTask({
    ...places,
    launch: taskLaunchSchema.parse(input),
    onReady: (record) => sayLast({ record }),
    onRun: (run) => {
      hosted = {
        end: (signal) => void run.kill(`The keeper of the task received ${signal}.`),
        fail: (message) => run.fail(`The keeper of the task failed: ${message}`),
      };
      const starting = run.onDidChange(({ agent }) => {
        if (agent === null) return;
        starting.dispose();
        logger.info('The agent runs', { pid: agent.pid });
      });
      // Without its reason, which may hold what the agent printed.
      void run.ended.then(({ status, exit_code, signal }) =>
        logger.info(`The task ended: ${status}`, { exit_code, signal }),
      );
    },
  });
  const program = { ...places, logLevel, keeperEntry, nodeArguments: process.execArgv };
  await continueQueue(program, logger).catch((error: unknown) =>
    logger.error('the queue could not go on', { error: messageOf(error) }),
  );
}

async function keepThisProcess(input: unknown): Promise<void> {
  const { keepProcess } = await import('./keep-process.js');
  await keepProcess(processLaunchSchema.parse(input), {
    statePath,
    logger,
    onReady: (record) => sayLast({ record }),
    onRun: (run) => {
      logStart();
      void run.ended.then(({ exit_code, signal }) => logger.info('The process ended', { exit_code, signal }));
      const end = (): void => {
        run.kill('SIGTERM').catch((error: unknown) =>
          // Usually it has ended by then.
          logger.warn('the process could not be ended', { error: messageOf(error) }),
        );
      };
      hosted = { end, fail: end };
    },
  });
}

try {
  // It may have been removed since the server opened it, as folders for temporary files are.
  await ensurePrivateFolder(runtimePath, process.getuid?.() ?? 0, 'Repair what it names, then try again.');
  await announce(statePath);
  say({ owner: await ownIdentity() });
  // A server that dies before it has written all of it leaves nothing that could run.
  const input: unknown = JSON.parse(await text(process.stdin));
  await (isProcess ? keepThisProcess(input) : keepThisTask(input));
  process.exit(0);
} catch (error) {
  if (isReady) logger.error('the keeper failed', { error: messageOf(error) });
  else sayLast({ error: wireErrorOf(error) });
  process.exit(1);
}
