import { join } from 'node:path';
import { z } from 'zod';
import { BridgeError } from '../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import { ownIdentity } from './process-identity.js';

const noteSchema = z.object({
  machine_id: z.string().nullable(),
  boot_id: z.string().nullable(),
  /** The setting `state_owner`. */
  owner: z.string().nullable(),
});
type Note = z.infer<typeof noteSchema>;

/** `own`: this machine writes the state directory. `unclaimed`: no machine has written into it. */
export type StateMachine = 'own' | 'other' | 'unclaimed';

/** Which machine's the state directory is: that which `machine.json` in it names. Throws STATE_UNUSABLE. */
export async function machineOf(statePath: string): Promise<StateMachine> {
  const note = await readNote(statePath);
  if (note === undefined) return 'unclaimed';
  const own = await ownNote(null);
  const isSame = note.machine_id !== null && note.machine_id === own.machine_id;
  return isSame || note.boot_id === own.boot_id ? 'own' : 'other';
}

/**
 * Makes the state directory this machine's when it is no other's, or when `owner`, the setting `state_owner`, is the one that it was
 * claimed with: a volume that moves from machine to machine. Throws STATE_UNUSABLE.
 */
export async function claimState(statePath: string, owner: string | null): Promise<void> {
  const machine = await machineOf(statePath);
  const isMoved = owner !== null && (await readNote(statePath))?.owner === owner;
  if (machine === 'unclaimed' || (machine === 'other' && isMoved)) await adoptState(statePath, owner);
}

/** Makes the state directory this machine's, whosever it was. Throws STATE_UNUSABLE. */
export async function adoptState(statePath: string, owner: string | null): Promise<void> {
  await writeJsonFileAtomically(noteFile(statePath), await ownNote(owner));
}

/** Throws STATE_UNUSABLE when the state directory is another machine's: there tasks can be read and nothing else. */
export async function requireOwnState(statePath: string): Promise<void> {
  if ((await machineOf(statePath)) !== 'other') return;
  throw new BridgeError(
    'STATE_UNUSABLE',
    `The state directory ${statePath} is another machine's: tasks in it can be read, and none can be started, ended or finished here.`,
    'If no bridge runs on that machine any more, run `claude-code-bridge state adopt`. For a volume that moves, set state_owner. Else set MCP_STATE_DIR to a folder of this machine.',
  );
}

async function readNote(statePath: string): Promise<Note | undefined> {
  const file = await readJsonFile(noteFile(statePath), noteSchema);
  return file.state === 'ok' ? file.value : undefined;
}

async function ownNote(owner: string | null): Promise<Note> {
  const { machine_id = null, boot_id } = await ownIdentity();
  return { machine_id, boot_id, owner };
}

function noteFile(statePath: string): string {
  return join(statePath, 'machine.json');
}
