import { constants, type Stats } from 'node:fs';
import { access, chmod, lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf, systemCodeOf } from '../../base/errors.js';
import { shellWord } from '../../base/text/shell-word.js';
import { machineOf } from '../../store/machine.js';
import { ok, type Check, type DoctorContext, type Finding } from '../check.js';

const OWNER_ALL = 0o700;

export const stateDirectory: Check = {
  id: 'state-directory',
  category: 'state',
  look: async (context) => {
    const path = await context.statePath();
    return (
      (await faultOf(path, context)) ??
      (await otherMachine(path, context)) ??
      (await temporaryFolder(context)) ??
      ok(`The state directory is ${path}, the temporary folder ${context.tmpDir}`)
    );
  },
  fix: async ({ statePath, uid }) => {
    const path = await statePath();
    const facts = await factsOf(path);
    if (typeof facts === 'string' || !facts.isDirectory()) return undefined;
    if (facts.uid !== uid || (facts.mode & 0o777) === OWNER_ALL) return undefined;
    await chmod(path, OWNER_ALL);
    return `chmod 700 ${path}`;
  },
};

async function faultOf(path: string, context: DoctorContext): Promise<Finding | undefined> {
  const { uid, homeDir } = context;
  const facts = await factsOf(path);
  const word = shellWord(path, homeDir);
  if (typeof facts === 'string') {
    // The bridge creates it with the first call, if it can.
    const above = facts === 'missing' ? await nearestFolder(path) : path;
    if (facts === 'missing' && (await mayWrite(above))) return undefined;
    const there = shellWord(above, homeDir);
    return {
      status: 'error',
      summary:
        facts === 'missing' ? `The state directory ${path} cannot be created` : `${path} cannot be entered`,
      words: 'Make the folder yours and writable, or set state_dir in the settings to another one.',
      command: `sudo chown ${uid} ${there} && chmod u+rwx ${there}`,
    };
  }
  if (!facts.isDirectory()) {
    return {
      status: 'error',
      summary: `The state directory ${path} is ${facts.isSymbolicLink() ? 'a link' : 'a file'}, not a folder`,
      words:
        'Put it aside; the bridge creates the folder. To have it elsewhere, set state_dir in the settings.',
      command: `mv ${word} ${word}.aside`,
    };
  }
  if (facts.uid !== uid) {
    return {
      status: 'error',
      summary: `The state directory ${path} belongs to user ${facts.uid}, and the bridge runs as user ${uid}`,
      words: 'Give it back to its user.',
      command: `sudo chown -R ${uid} ${word}`,
    };
  }
  const mode = facts.mode & 0o777;
  if (mode === OWNER_ALL) return undefined;
  const shown = `its mode is ${mode.toString(8).padStart(4, '0')}`;
  const isUsable = (mode & OWNER_ALL) === OWNER_ALL;
  return {
    status: isUsable ? 'warning' : 'error',
    summary: isUsable
      ? `Other users can enter the state directory ${path} (${shown})`
      : `The state directory ${path} cannot be written (${shown})`,
    words: 'Only its owner may enter it.',
    command: `chmod 700 ${word}`,
  };
}

async function otherMachine(path: string, { command }: DoctorContext): Promise<Finding | undefined> {
  if ((await machineOf(path)) !== 'other') return undefined;
  return {
    status: 'error',
    summary: `The state directory ${path} is another machine's: its tasks can be read, and none can be started`,
    words:
      'If no bridge runs on that machine any more, make it this machine’s; or set state_dir, or state_owner for a volume that moves.',
    command: `${command} state adopt`,
  };
}

/** Undefined when files can be made in it: git gets its settings there, and Claude Code its own folder. */
async function temporaryFolder({ tmpDir, homeDir }: DoctorContext): Promise<Finding | undefined> {
  try {
    await access(`${tmpDir}/.`, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (thrown) {
    return {
      status: 'warning',
      summary: `The temporary folder ${tmpDir} cannot be used: ${messageOf(thrown)}`,
      words: 'Make it, or set TMPDIR for the client that starts the bridge to another folder.',
      command: `mkdir -p ${shellWord(tmpDir, homeDir)}`,
    };
  }
}

async function factsOf(path: string): Promise<Stats | 'missing' | 'unreadable'> {
  try {
    return await lstat(path);
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === undefined) throw thrown;
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : 'unreadable';
  }
}

/** The nearest folder above a path that exists. */
async function nearestFolder(path: string): Promise<string> {
  const above = dirname(path);
  if (above === path) return path;
  const facts = await factsOf(above);
  return typeof facts !== 'string' && facts.isDirectory() ? above : nearestFolder(above);
}

function mayWrite(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}
