// The program of the board's process: see src/board/board.ts. `linkToBoard` starts it.
import './base/uncompiled-schemas.js';
import { closeSync, rmSync, writeSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { BridgeError, messageOf, systemCodeOf } from './base/errors.js';
import { writeJsonFileAtomically } from './base/files/json-file.js';
import { boundedWriter, createStderrLogger, logLevelOf, stderrWriter } from './base/logger.js';
import { VERSION } from './base/package.js';
import { systemClock } from './base/system-clock.js';
import { readAssets } from './board/assets.js';
import { Board } from './board/board.js';
import {
  ANOTHER_BOARD,
  BOARD_LOCK,
  boardInputSchema,
  boardPlace,
  type BoardInput,
  type BoardPlace,
} from './board/board-place.js';
import { throughDoor } from './board/door.js';
import { loadConfig } from './config/load-config.js';
import { modeSettings } from './config/permission-modes.js';
import { ownPlaces, readEnvironment } from './config/own-places.js';
import { READY_FD, type ReadyMessage, wireErrorOf } from './keeper/wire/messages.js';
import type { MachineTasks } from './machines/machine-tasks.js';
import { AllowedRoots } from './projects/allowed-roots.js';
import type { BridgeOptions } from './services/open-state.js';
import { pageServices } from './services/page-services.js';
import { createTaskServices } from './services/task-services.js';
import { takeMutex } from './store/mutex.js';
import { ownIdentity } from './store/process-identity.js';
import type { TaskService } from './tasks/task-service.js';

/** Far more than a board writes; an error that repeats must not fill the disk. */
const MAX_LOG_BYTES = 8 * 1024 * 1024;
const [, , , statePath = '', , level] = process.argv;
// Its stderr is board.log.
const logger = createStderrLogger(
  logLevelOf(level),
  boundedWriter(stderrWriter(process.stderr), MAX_LOG_BYTES),
);

function sendReady(message: ReadyMessage): void {
  try {
    writeSync(READY_FD, JSON.stringify(message));
    closeSync(READY_FD);
  } catch (error) {
    logger.warn('nothing waits for the board', { error: messageOf(error) });
  }
}

/** The services of a server, for a process that only watches and acts for a person. */
async function openServices(input: BoardInput) {
  const env = readEnvironment();
  const { config, source, origins } = await loadConfig({ ...input, env });
  const options = {
    // The board is no server: it must not keep a task alive that ends when its last server has gone.
    config: { ...config, on_disconnect: 'keep' as const },
    env,
    homeDir: input.homeDir,
    settingsFile: source,
    origins,
    command: input.command,
    version: VERSION,
    logger,
    keeperEntry: input.keeperEntry,
    nodeArguments: process.execArgv,
  };
  const roots = new AllowedRoots(
    config.allowed_roots,
    input.homeDir,
    ownPlaces(config, options),
    input.command,
  );
  const services = await createTaskServices(options, roots);
  return { services, pages: pageServices(options, services, await machineTasks(options, services.tasks)) };
}

/** Loaded only where the settings have machines. */
async function machineTasks(options: BridgeOptions, local: TaskService): Promise<MachineTasks | undefined> {
  const { config, origins = {} } = options;
  if (Object.keys(config.machines).length === 0) return undefined;
  const [{ MachineTasks }, { openMachines }] = await Promise.all([
    import('./machines/machine-tasks.js'),
    import('./machines/machines.js'),
  ]);
  const machines = openMachines(options);
  process.once('exit', () => machines.dispose());
  const limits = { modes: modeSettings(config, origins), rules: config.rules };
  return new MachineTasks({ local, machines, limits, clock: systemClock });
}

type OpenServices = Awaited<ReturnType<typeof openServices>>;

async function startBoard(input: BoardInput, place: BoardPlace, { pages }: OpenServices): Promise<Board> {
  try {
    const assets = await readAssets(fileURLToPath(new URL('./web', import.meta.url)), input.command);
    const door = { file: place.doorFile, port: input.port, isNew: input.new_token, nowMs: systemClock.now() };
    return await throughDoor(door, (port, token) => Board.start({ ...pages, assets, token }, port));
  } catch (error) {
    if (systemCodeOf(error) !== 'EADDRINUSE' && systemCodeOf(error) !== 'EACCES') throw error;
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `The board cannot use port ${input.port}: ${messageOf(error)}.`,
      'Choose another port, or leave it out.',
    );
  }
}

/** Runs until no page is open for a while, or a signal ends it. */
async function main(input: BoardInput, place: BoardPlace): Promise<void> {
  const owner = await ownIdentity();
  const lock = await takeMutex({ folder: place.folder, name: BOARD_LOCK, statePath });
  if ('busy' in lock) {
    sendReady({ record: { board_id: ANOTHER_BOARD } });
    return;
  }
  process.once('exit', () => {
    rmSync(place.discoveryFile, { force: true });
    lock.release();
  });
  const opened = await openServices(input);
  process.once('exit', () => opened.services.dispose());
  const board = await startBoard(input, place, opened);
  const { id: board_id, port } = board;
  const discovery = { version: VERSION, board_id, port, owner };
  await writeJsonFileAtomically(place.discoveryFile, discovery, { durable: false });
  logger.info(`The board started`, { version: VERSION, pid: process.pid, port });
  const over = new Promise<string>((resolve) => {
    board.onOver(resolve);
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => resolve(`It got ${signal}.`));
  });
  process.on('SIGHUP', () => undefined);
  sendReady({ record: discovery });
  logger.info(`The board ends: ${await over}`);
  await board.close();
}

try {
  const input = boardInputSchema.parse(JSON.parse(await text(process.stdin)));
  await main(input, boardPlace(statePath));
  process.exit(0);
} catch (error) {
  logger.error('the board failed', {
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
  sendReady({ error: wireErrorOf(error) });
  process.exit(1);
}
