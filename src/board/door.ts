// How the board of a state directory is found, entered and ended.
import { lstat } from 'node:fs/promises';
import { z } from 'zod';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import { pidOf } from '../os/pid.js';
import { thisMachine } from '../os/process-system.js';
import { ownerState } from '../store/owner-state.js';
import { isPrivate } from '../store/private-folder.js';
import { ownIdentity } from '../store/process-identity.js';
import { placeOf } from '../store/process-place.js';
import { linkCode, newSecret } from './access.js';
import { boardPlace, discoverySchema, type BoardLink, type Discovery } from './board-place.js';

const TOKEN_LIFE_MS = 30 * 24 * 3_600_000;

/** `board/door.key`: how the pages of the last board find the next one, and are let in. */
const doorSchema = z.object({
  token: z.string().min(1).max(100),
  made_at_ms: z.number(),
  port: z.int().min(1).max(65_535),
});

export interface DoorOptions {
  readonly file: string;
  /** 0 for the port of the last board where that is free, else any free one. A port that was asked for is taken as it is. */
  readonly port: number;
  readonly isNew: boolean;
  readonly nowMs: number;
}

/** Starts a board with the token of the last one, unless that is 30 days old, and at its port. Rejects as `start` does. */
export async function throughDoor<T extends { readonly port: number }>(
  { file, port: wanted, isNew, nowMs }: DoorOptions,
  start: (port: number, token: string) => Promise<T>,
): Promise<T> {
  const last = await readDoor(file);
  const isGood = !isNew && last !== undefined && Math.abs(nowMs - last.made_at_ms) < TOKEN_LIFE_MS;
  const fresh = { token: newSecret(), made_at_ms: nowMs };
  let door = isGood ? last : fresh;
  const first = wanted === 0 ? (last?.port ?? 0) : wanted;
  const started = await start(first, door.token).catch((error: unknown) => {
    if (first === wanted || systemCodeOf(error) !== 'EADDRINUSE') throw error;
    // No page of before comes here, and what has the port may have been told their token.
    door = fresh;
    return start(wanted, fresh.token);
  });
  await writeJsonFileAtomically(file, { ...door, port: started.port }, { durable: false });
  return started;
}

/** What the last board wrote; undefined also for a file that others could read or have put there. */
async function readDoor(file: string): Promise<z.infer<typeof doorSchema> | undefined> {
  const facts = await lstat(file).catch(() => undefined);
  if (facts === undefined || !isPrivate(facts)) return undefined;
  const read = await readJsonFile(file, doorSchema);
  return read.state === 'ok' ? read.value : undefined;
}

/** A board, as the files of its state directory say. */
export interface RunningBoard extends Discovery {
  readonly token: string;
}

/** The board of a state directory; undefined when none runs. Throws STATE_UNUSABLE as `ownerState` does. */
export async function runningBoard(statePath: string): Promise<RunningBoard | undefined> {
  const { discoveryFile, doorFile } = boardPlace(statePath);
  const found = await readJsonFile(discoveryFile, discoverySchema);
  if (found.state !== 'ok') return undefined;
  if ((await ownerState(found.value.owner, statePath)) === 'gone') return undefined;
  const door = await readDoor(doorFile);
  return door && { ...found.value, token: door.token };
}

/** A link that opens one page. Its code is in the fragment, which a browser sends to no server. */
export function linkTo(
  { port, board_id, version, token }: Omit<RunningBoard, 'owner'>,
  nowMs: number,
): BoardLink {
  return { url: `http://127.0.0.1:${port}/#code=${linkCode(token, nowMs)}`, port, board_id, version };
}

/** Asks a board to end. Throws STATE_UNUSABLE for one of another container, which has pids of its own. */
export async function endBoard({ owner, port }: RunningBoard): Promise<void> {
  if (placeOf(owner, await ownIdentity()) !== 'here') {
    throw new BridgeError(
      'STATE_UNUSABLE',
      `The board at port ${port} must be replaced, and runs in another container.`,
      'End it there, then open the board again.',
    );
  }
  const pid = pidOf(owner.pid);
  if (pid !== undefined) thisMachine.send(pid, 'SIGTERM');
}
