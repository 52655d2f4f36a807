import { BridgeError } from '../base/errors.js';
import { readJsonFile } from '../base/files/json-file.js';
import { pidOf } from '../os/pid.js';
import { thisMachine } from '../os/process-system.js';
import { ownerState } from '../store/owner-state.js';
import { ownIdentity } from '../store/process-identity.js';
import { placeOf } from '../store/process-place.js';
import { linkCode } from './access.js';
import { boardPlace, discoverySchema, type BoardLink, type Discovery } from './board-place.js';
import { readDoor } from './door.js';

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
