import { existsSync } from 'node:fs';
import { lstat, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { BridgeError, messageOf, systemCodeOf } from '../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import { isPrivate } from './private-folder.js';
import { ownIdentity } from './process-identity.js';

/** The form of what the state directory holds. It grows when older files are not understood any more. */
const FORMAT = 2;
/** What a process that opens the folder at the same time has made in it; temporary files are those of `replaceFile`. */
const FIRST_NAMES = /^(machine\.json|tasks|locks|editors|\.[0-9a-f]{32}\.tmp)$/;
/** The first form had no number. Anything else with this name is not the bridge's. */
const formatSchema = z.union([
  z.object({ format: z.int() }),
  z.object({ boot_id: z.string() }).transform(() => ({ format: 1 })),
]);
const noteSchema = z.object({
  format: z.literal(FORMAT),
  machine_id: z.string().nullable(),
  boot_id: z.string().nullable(),
  /** The setting `state_owner`. */
  owner: z.string().nullable(),
});

/** `own`: this machine writes the state directory. `unclaimed`: no machine has written into it. */
export type StateMachine = 'own' | 'other' | 'unclaimed';

/** Which machine's the state directory is: that which `machine.json` in it names. Throws STATE_UNUSABLE. */
export async function machineOf(statePath: string): Promise<StateMachine> {
  const note = await readNote(statePath);
  if (note === undefined) return 'unclaimed';
  const { machine_id = null, boot_id } = await ownIdentity();
  return (machine_id !== null && note.machine_id === machine_id) || note.boot_id === boot_id
    ? 'own'
    : 'other';
}

/**
 * Makes the state directory this machine's when it is no other's, or when `owner`, the setting `state_owner`, is the one that it was
 * claimed with: a volume that moves from machine to machine. Throws STATE_UNUSABLE.
 */
export async function claimState(statePath: string, owner: string | null): Promise<void> {
  const machine = await machineOf(statePath);
  const before = (await readNote(statePath))?.owner;
  // Of another machine it is claimed by the same name, of this one a name is added.
  const isNamed = owner !== null && before === (machine === 'other' ? owner : null);
  if (machine === 'unclaimed' || isNamed) await adoptState(statePath, owner);
}

/** Whether the bridge has written its `machine.json` into the folder, in whatever form. Throws STATE_UNUSABLE. */
export async function isStateDir(path: string): Promise<boolean> {
  return (await readJsonFile(noteFile(path), formatSchema)).state === 'ok';
}

/**
 * Whether a folder can become a state directory: it is empty, or holds only what a bridge makes in a private folder before its
 * `machine.json`. Throws the system's error.
 */
export async function canBecomeStateDir(path: string): Promise<boolean> {
  const names = await readdir(path);
  if (names.length === 0) return true;
  // After the names: another process makes the folder private before it makes anything in it.
  return isPrivate(await lstat(path)) && names.every((name) => FIRST_NAMES.test(name));
}

/** Makes the state directory this machine's, whosever it was. Throws STATE_UNUSABLE. */
export async function adoptState(statePath: string, owner: string | null): Promise<void> {
  const { machine_id = null, boot_id } = await ownIdentity();
  const note: z.infer<typeof noteSchema> = { format: FORMAT, machine_id, boot_id, owner };
  await writeJsonFileAtomically(noteFile(statePath), note);
}

/** Throws STATE_UNUSABLE when the state directory is another machine's: there tasks can be read and nothing else. */
export async function requireOwnState(statePath: string): Promise<void> {
  const foreign = await foreignState(statePath);
  if (foreign !== undefined) throw foreign;
}

/** The words about a state directory of another machine: what was found, what works, and what to do. Throws STATE_UNUSABLE. */
export async function foreignState(statePath: string): Promise<BridgeError | undefined> {
  if ((await machineOf(statePath)) !== 'other') return undefined;
  return new BridgeError(
    'STATE_UNUSABLE',
    `The state directory ${statePath} was written by another machine, or this machine has a new id. Its tasks can be read here (list, log, receipt), as they were last written. Nothing can be started, answered, ended or finished.`,
    'When no bridge runs on the other machine any more, run `claude-code-bridge state adopt`. For a volume that moves between machines, set state_owner. To leave it alone, set MCP_STATE_DIR to another folder.',
  );
}

/**
 * Renames a state directory whose form this version does not know to `<path>-old-<number>`, and returns that; undefined when there was
 * nothing to do. `isInUse` says whether a process of the bridge still runs with it. Throws STATE_UNUSABLE then, and when it cannot be
 * renamed.
 */
export async function setOldStateAside(
  path: string,
  isInUse: (path: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (let number = 1; ; number++) {
    const aside = `${path}-old-${number}`;
    if (existsSync(aside)) continue;
    // Read after the number was chosen: of several processes one moves it, and for the others the name is taken then.
    const note = await readJsonFile(noteFile(path), formatSchema);
    if (note.state !== 'ok' || note.value.format === FORMAT) return undefined;
    if (await isInUse(path)) throw otherForm(path, 'and it still runs');
    try {
      await rename(path, aside);
      return aside;
    } catch (error) {
      const code = systemCodeOf(error);
      if (code === 'ENOENT') return undefined;
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST')
        throw otherForm(path, `and the folder cannot be renamed to ${aside}: ${messageOf(error)}`);
    }
  }
}

function otherForm(path: string, why: string): BridgeError {
  return new BridgeError(
    'STATE_UNUSABLE',
    `The state directory ${path} was written by another version of the bridge, ${why}.`,
    'End the tasks and the clients of that version, or set MCP_STATE_DIR to another folder, and try again.',
  );
}

async function readNote(statePath: string): Promise<z.infer<typeof noteSchema> | undefined> {
  const file = await readJsonFile(noteFile(statePath), noteSchema);
  return file.state === 'ok' ? file.value : undefined;
}

function noteFile(statePath: string): string {
  return join(statePath, 'machine.json');
}
