import { chmod, lstat } from 'node:fs/promises';
import { accessSync, statSync, type Stats } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { messageOf, systemCodeOf } from '../../base/errors.js';
import { shellWord } from '../../base/text/shell-word.js';
import { ok, type Check, type Finding, type Remedy } from '../check.js';
import { machineOf } from '../../store/machine.js';
import type { DoctorContext } from '../context.js';
import { nearestFolder } from '../nearest-folder.js';

const FOR_OTHERS = 0o077;
const OWNER_ALL = 0o700;

export const stateDirectory: Check = {
  id: 'state-directory',
  category: 'state',
  look: async (context) => {
    const path = await context.statePath();
    const facts = await factsOf(path);
    if (facts === 'unreadable') return error(`${path} cannot be entered`, fixAbove(path, context));
    if (facts === undefined) return whereMissing(path, context);
    return (
      faultOf(path, facts, context) ??
      (await otherMachine(path)) ??
      temporaryFolder(context) ??
      ok(`The state directory is ${path}, the temporary folder ${context.tmpDir}`)
    );
  },
  fix: async (context) => {
    const path = await context.statePath();
    const facts = await factsOf(path);
    if (facts === undefined || facts === 'unreadable' || !facts.isDirectory()) return undefined;
    if (facts.uid !== context.uid || (facts.mode & 0o777) === OWNER_ALL) return undefined;
    await chmod(path, OWNER_ALL);
    return `chmod 700 ${path}`;
  },
};

async function otherMachine(path: string): Promise<Finding | undefined> {
  if ((await machineOf(path)) !== 'other') return undefined;
  return error(
    `The state directory ${path} is another machine's: its tasks can be read, and none can be started`,
    {
      words:
        'If no bridge runs on that machine any more, make it this machine’s; or set state_dir, or state_owner for a volume that moves.',
      command: 'claude-code-bridge state adopt',
    },
  );
}

function faultOf(path: string, facts: Stats, { uid, homeDir }: DoctorContext): Finding | undefined {
  const word = shellWord(path, homeDir);
  if (!facts.isDirectory()) {
    const kind = facts.isSymbolicLink() ? 'a link' : 'a file';
    return error(`The state directory ${path} is ${kind}, not a folder`, {
      words:
        'Put it aside; the bridge creates the folder. To have it elsewhere, set state_dir in the settings.',
      command: `mv ${word} ${word}.aside`,
    });
  }
  if (facts.uid !== uid) {
    return error(
      `The state directory ${path} belongs to user ${facts.uid}, and the bridge runs as user ${uid}`,
      {
        words: 'Give it back to its user.',
        command: `sudo chown -R ${uid} ${word}`,
      },
    );
  }
  const remedy: Remedy = { words: 'Only its owner may enter it.', command: `chmod 700 ${word}` };
  if ((facts.mode & OWNER_ALL) !== OWNER_ALL)
    return error(`The state directory ${path} cannot be written (its mode is ${modeOf(facts)})`, remedy);
  if ((facts.mode & FOR_OTHERS) === 0) return undefined;
  return {
    status: 'warning',
    summary: `Other users can enter the state directory ${path} (its mode is ${modeOf(facts)})`,
    remedy,
  };
}

/** Undefined when files can be made in it: git gets its settings there, and Claude Code its own folder. */
function temporaryFolder({ tmpDir, homeDir }: DoctorContext): Finding | undefined {
  try {
    if (!statSync(tmpDir).isDirectory()) throw new Error('it is not a folder');
    accessSync(tmpDir, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (thrown) {
    return {
      status: 'warning',
      summary: `The temporary folder ${tmpDir} cannot be used: ${messageOf(thrown)}`,
      remedy: {
        words: 'Make it, or set TMPDIR for the client that starts the bridge to another folder.',
        command: `mkdir -p ${shellWord(tmpDir, homeDir)}`,
      },
    };
  }
}

/** The bridge creates it with the first call, if it can. */
async function whereMissing(path: string, context: DoctorContext): Promise<Finding> {
  const above = await nearestFolder(path);
  try {
    await access(above, constants.W_OK);
    return (
      temporaryFolder(context) ??
      ok(`The state directory will be ${path}, the temporary folder is ${context.tmpDir}`)
    );
  } catch (thrown) {
    if (systemCodeOf(thrown) === undefined) throw thrown;
    return error(`The state directory ${path} cannot be created`, fixAbove(above, context));
  }
}

function fixAbove(path: string, { uid, homeDir }: DoctorContext): Remedy {
  return {
    words: 'Make the folder yours and writable, or set state_dir in the settings to another one.',
    command: `sudo chown ${uid} ${shellWord(path, homeDir)} && chmod u+rwx ${shellWord(path, homeDir)}`,
  };
}

function modeOf({ mode }: Stats): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}

function error(summary: string, remedy: Remedy): Finding {
  return { status: 'error', summary, remedy };
}

/** Undefined when nothing is there. */
async function factsOf(path: string): Promise<Stats | 'unreadable' | undefined> {
  try {
    return await lstat(path);
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === undefined) throw thrown;
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : 'unreadable';
  }
}
