import { lstat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { BridgeError, systemCodeOf } from '../../base/errors.js';
import { createTaskId } from '../../base/ids.js';
import { shellWord } from '../../base/text/shell-word.js';
import { RuntimeDir } from '../../store/runtime-dir.js';
import { ok, type Check, type Finding } from '../check.js';
import type { DoctorContext } from '../context.js';

/** The folder of the sockets through which servers reach tasks. */
export const sockets: Check = {
  id: 'sockets',
  category: 'state',
  look: async (context) => {
    const folder = await folderOf(context);
    try {
      new RuntimeDir(folder).socketPath(createTaskId());
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      return {
        status: 'error',
        summary: error.message,
        remedy: { words: error.hint, command: shorter(context) },
      };
    }
    // In a shared folder for temporary files the bridge takes another name instead.
    const isShared = dirname(folder) === context.tmpDir;
    return (isShared ? undefined : await faultOf(folder, context)) ?? ok(`Sockets of tasks are in ${folder}`);
  },
};

async function folderOf({ env, tmpDir, uid }: DoctorContext): Promise<string> {
  const runtime = env['XDG_RUNTIME_DIR'];
  if (runtime !== undefined && isAbsolute(runtime)) {
    const facts = await factsOf(runtime);
    if (facts?.isDirectory() === true && facts.uid === uid) return join(runtime, 'ccb');
  }
  return join(tmpDir, `ccb-${uid}`);
}

async function faultOf(folder: string, { homeDir, uid }: DoctorContext): Promise<Finding | undefined> {
  const facts = await factsOf(folder);
  if (facts === undefined || facts.uid !== uid || facts.isDirectory()) return undefined;
  const word = shellWord(folder, homeDir);
  return {
    status: 'error',
    summary: `The folder for sockets ${folder} is no folder`,
    remedy: { words: 'Put it aside; the bridge creates the folder.', command: `mv ${word} ${word}.aside` },
  };
}

function shorter({ uid }: DoctorContext): string {
  return `mkdir -p -m 700 /tmp/ccb-run-${uid} && export XDG_RUNTIME_DIR=/tmp/ccb-run-${uid}`;
}

async function factsOf(path: string) {
  try {
    return await lstat(path);
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return undefined;
  }
}
