import { closeSync, openSync, readFileSync } from 'node:fs';
import { Emulator } from '../screen/emulator.js';
import { loadNodePty } from '../pty/load-node-pty.js';
import { ownIdentity } from '../store/process-identity.js';
import { StateDir } from '../store/state-dir.js';
import { taskRecordSchema } from '../tasks/task.js';
import { taskSpecSchema } from '../tasks/task-spec.js';
import { taskAssignmentSchema } from './messages.js';
import { loadReceiptParts } from './receipt-parts.js';

const STDIN = 0;
const OUTPUTS = [1, 2] as const;
const OWNER_ONLY = 0o600;

/**
 * What a spare keeper does until it has a task: loads what every task needs, then waits for its stdin to end. Gives the task's
 * id, or undefined when its server went without having one. From then on it looks like a keeper that was started for that task:
 * its title names it, and what it prints goes to its log. Throws when it was told something else, or the log cannot be opened.
 */
export async function awaitTask(places: {
  readonly keeperEntry: string;
  readonly statePath: string;
  readonly runtimePath: string;
}): Promise<string | undefined> {
  await loadAhead();
  const told = readFileSync(STDIN, 'utf8');
  if (told === '') return undefined;
  const taskId = taskAssignmentSchema.parse(JSON.parse(told)).task_id;
  process.title = [process.execPath, places.keeperEntry, taskId, places.statePath, places.runtimePath].join(
    ' ',
  );
  takeDescriptor(STDIN, '/dev/null', 'r');
  const log = new StateDir(places.statePath).keeperLog(taskId);
  for (const output of OUTPUTS) takeDescriptor(output, log, 'a');
  return taskId;
}

/** What the first task of a process would wait for: modules, and the first use of what is made when it is first used. */
async function loadAhead(): Promise<void> {
  for (const schema of [taskSpecSchema, taskRecordSchema]) schema.safeParse({});
  new Emulator({ columns: 1, rows: 1, scrollback: 1, reply: () => undefined }).dispose();
  await Promise.all([
    // Whether a terminal can be made is the task's to tell.
    loadNodePty().catch(() => undefined),
    loadReceiptParts(),
    ownIdentity(),
  ]);
}

/** Opens a file as this descriptor: what is opened gets the lowest one that is free. */
function takeDescriptor(descriptor: number, path: string, flags: 'r' | 'a'): void {
  closeSync(descriptor);
  const opened = openSync(path, flags, OWNER_ONLY);
  if (opened !== descriptor) throw new Error(`Descriptor ${opened} was opened, not ${descriptor}.`);
}
