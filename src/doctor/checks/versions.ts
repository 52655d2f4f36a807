import { join } from 'node:path';
import { readJsonFile } from '../../base/files/json-file.js';
import { countedNoun } from '../../base/text/text.js';
import { isOlderVersion } from '../../base/version.js';
import { discoverySchema } from '../../board/board-place.js';
import { processState } from '../../store/process-identity.js';
import { ok, type Check, type Finding } from '../check.js';
import type { DoctorContext } from '../context.js';
import { stateLeftovers } from '../state-leftovers.js';

/** Boards and records of another version of the bridge. */
export const versions: Check = {
  id: 'versions',
  category: 'state',
  limitMs: 20_000,
  look: async (context) => {
    const statePath = await context.statePath();
    const board = await boardOf(statePath);
    if (board !== undefined && board.version !== context.bridgeVersion) return otherBoard(board, context);
    const newer = (await stateLeftovers(statePath))?.newer ?? [];
    if (newer.length > 0) {
      return {
        status: 'warning',
        summary: `${countedNoun(newer.length, 'task')} of a newer bridge cannot be read by this one (${context.bridgeVersion})`,
        details: newer,
        remedy: {
          words: 'Use the newer version everywhere.',
          command: 'npm install -g claude-code-bridge@latest',
        },
      };
    }
    return ok(`claude-code-bridge ${context.bridgeVersion}, and nothing of another version runs`, [
      'not checked: the versions of running keepers, which do not record theirs',
    ]);
  },
};

function otherBoard(
  { version, pid }: { readonly version: string; readonly pid: number },
  { bridgeVersion }: DoctorContext,
): Finding {
  return {
    status: 'warning',
    summary: `The board that runs is of version ${version}, and this bridge of ${bridgeVersion}`,
    remedy: isOlderVersion(bridgeVersion, version)
      ? {
          words: 'A newer bridge started it: use that one in every client.',
          command: 'npx -y claude-code-bridge@latest --version',
        }
      : {
          words: 'The next one that is opened takes its place. To end it now (it holds no state):',
          command: `kill ${pid}`,
        },
  };
}

async function boardOf(
  statePath: string,
): Promise<{ readonly version: string; readonly pid: number } | undefined> {
  const read = await readJsonFile(join(statePath, 'board', 'board.json'), discoverySchema);
  if (read.state !== 'ok') return undefined;
  const { version, owner } = read.value;
  return (await processState(owner)) === 'alive' ? { version, pid: owner.pid } : undefined;
}
