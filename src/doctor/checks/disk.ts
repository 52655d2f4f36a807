import { statfs } from 'node:fs/promises';
import { shellWord } from '../../base/text/shell-word.js';
import { ok, type Check } from '../check.js';
import { nearestFolder } from '../nearest-folder.js';

const MB = 1024 * 1024;
/** A task with a long recording writes so much. */
const TOO_LITTLE_BYTES = 100 * MB;
const LITTLE_BYTES = 1024 * MB;

export const disk: Check = {
  id: 'disk',
  category: 'system',
  look: async (context) => {
    const path = await nearestFolder(await context.statePath());
    const { bavail, bsize } = await statfs(path);
    const free = bavail * bsize;
    const words = `${Math.floor(free / MB)} MB are free for the state directory (${path})`;
    if (free >= LITTLE_BYTES) return ok(words);
    return {
      status: free < TOO_LITTLE_BYTES ? 'error' : 'warning',
      summary: `Only ${words}: logs and records of tasks need more`,
      remedy: {
        words: 'Free some space; this removes the files of all but the ten newest finished tasks.',
        command: `${context.command} tasks prune --keep 10 && df -h ${shellWord(path, context.homeDir)}`,
      },
    };
  },
};
