import { mkdir, rm, stat } from 'node:fs/promises';
import { sleep, type Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import { isOlderVersion, VERSION } from '../base/package.js';
import { launchKeeper } from '../keeper/host/launch-keeper.js';
import type { LogLevel } from '../base/logger.js';
import {
  ANOTHER_BOARD,
  boardPlace,
  discoverySchema,
  type BoardInput,
  type BoardLink,
} from './board-place.js';
import { endBoard, linkTo, runningBoard } from './door.js';

const OWNER_ONLY = 0o700;
/** A board starts in half a second; on a busy machine it takes longer. */
const START_LIMIT_MS = 30_000;
/** How long the start of another process is waited for. */
const WAIT_LIMIT_MS = 30_000;
const LOOK_INTERVAL_MS = 100;
const MAX_LOG_BYTES = 1024 * 1024;

export interface BoardLaunch {
  /** `dist/board.js`, run by `ownNode`. */
  readonly boardEntry: string;
  readonly nodeArguments: readonly string[];
  readonly statePath: string;
  readonly runtimePath: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logLevel: LogLevel;
  readonly input: BoardInput;
  readonly clock: Clock;
}

/**
 * A link to the board of a state directory, which is started if none runs. A board of an older version, or whose token is no longer to
 * count, is replaced: it has no state of its own, and the new one has the same port. The link opens one page, within a minute. Throws
 * INVALID_ARGUMENTS when a board runs at another port than the one that was asked for, or the port is taken.
 */
export async function linkToBoard(launch: BoardLaunch): Promise<BoardLink> {
  const { statePath, clock, input } = launch;
  const place = boardPlace(statePath);
  await mkdir(place.folder, { recursive: true, mode: OWNER_ONLY });
  const deadlineMs = clock.monotonicMs() + WAIT_LIMIT_MS;
  let started: string | undefined;
  while (clock.monotonicMs() < deadlineMs) {
    const running = await runningBoard(statePath);
    if (running !== undefined) {
      const isFresh = !input.new_token || running.board_id === started;
      if (isFresh && !isOlderVersion(running.version, VERSION))
        return atPort(linkTo(running, clock.now()), input.port);
      await endBoard(running);
      await sleep(clock, LOOK_INTERVAL_MS);
      continue;
    }
    await removeLong(place.logFile);
    // Of two that start at once one gets the lock, and the other leaves.
    started = (await startBoard(launch, place.logFile)).board_id;
    if (started === ANOTHER_BOARD) await sleep(clock, LOOK_INTERVAL_MS);
  }
  throw new BridgeError(
    'STATE_UNUSABLE',
    'The board ended as soon as it had started.',
    `Its log says more: ${place.logFile}`,
  );
}

/** A board writes a few lines; a log that is long is of many boards. */
async function removeLong(log: string): Promise<void> {
  const found = await stat(log).catch(() => undefined);
  if (found !== undefined && found.size > MAX_LOG_BYTES) await rm(log, { force: true });
}

function startBoard(launch: BoardLaunch, log: string): Promise<{ readonly board_id: string }> {
  return launchKeeper(
    { ...launch, keeperEntry: launch.boardEntry },
    {
      id: 'board',
      input: launch.input,
      log,
      limitMs: START_LIMIT_MS,
      record: discoverySchema.pick({ board_id: true }),
      failure: (why) =>
        new BridgeError('STATE_UNUSABLE', `The board did not start: ${why}.`, `Its log says more: ${log}`),
    },
  );
}

function atPort(link: BoardLink, wanted: number): BoardLink {
  if (wanted === 0 || wanted === link.port) return link;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `The board already runs at port ${link.port}, so it cannot be opened at port ${wanted}.`,
    'Leave out the port, or try again when the board has ended: it does so 15 minutes after its last page was closed.',
  );
}
