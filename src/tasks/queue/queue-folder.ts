import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.js';
import { BridgeError, messageOf, systemCodeOf } from '../../base/errors.js';
import { replaceFile, makeFolders } from '../../base/files/folders.js';
import { createSecret, TASK_ID_PATTERN } from '../../base/ids.js';
import { readJsonFile, writeJsonFileAtomically } from '../../base/files/json-file.js';
import type { Logger } from '../../base/logger.js';
import type { StateDir } from '../../store/state-dir.js';
import { initialRecord } from '../record/initial-record.js';
import { writeRecordFile } from '../record/record-file.js';
import { projectFilePaths } from '../project-folder.js';
import type { TaskRecord } from '../task.js';
import type { TaskSpec } from '../task-spec.js';
import { standingWords, ticketSchema, type Standing, type Ticket } from './queue-order.js';

const OWNER_ONLY = 0o700;
const OWNER_ONLY_FILE = 0o600;
const SUFFIX = '.json';
/** What `writeJsonFileAtomically` leaves when its process is killed. */
const UNFINISHED = /^\..*\.tmp$/;

/** The tickets on disk. They are read in a critical section over the locks where a start depends on them. */
export class QueueFolder {
  readonly #stateDir: StateDir;
  readonly #logger: Logger;
  /** A ticket never changes: each is read once. */
  #known = new Map<string, Ticket>();

  constructor(stateDir: StateDir, logger: Logger) {
    this.#stateDir = stateDir;
    this.#logger = logger;
  }

  /**
   * In no order. One that cannot be read is removed and reported: its task ends then. `isExclusive`: in a critical section, where no other
   * process writes one; what a killed writer left is removed, too. Throws STATE_UNUSABLE when the disk does not let it.
   */
  async tickets(isExclusive = false): Promise<Ticket[]> {
    const known = new Map<string, Ticket>();
    for (const name of await this.#names()) {
      if (isExclusive && UNFINISHED.test(name))
        await rm(join(this.#stateDir.queueDir, name), { force: true });
      const taskId = name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : '';
      if (!TASK_ID_PATTERN.test(taskId)) continue;
      const ticket = this.#known.get(taskId) ?? (await this.#read(taskId));
      if (ticket !== undefined) known.set(taskId, ticket);
    }
    this.#known = known;
    return [...known.values()];
  }

  /** On disk, also after a crash of the machine, when it resolves. */
  async add(ticket: Ticket): Promise<void> {
    const path = this.#stateDir.ticketFile(ticket.task_id);
    await makeFolders(dirname(path), OWNER_ONLY);
    await writeJsonFileAtomically(path, ticket);
  }

  async remove(taskId: string): Promise<void> {
    await rm(this.#stateDir.ticketFile(taskId), { force: true });
  }

  async #names(): Promise<string[]> {
    try {
      return await readdir(this.#stateDir.queueDir);
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return [];
      throw new BridgeError(
        'STATE_UNUSABLE',
        `The queue ${this.#stateDir.queueDir} cannot be read: ${messageOf(error)}.`,
        'Check that the folder is yours; MCP_STATE_DIR names another place.',
        { cause: error },
      );
    }
  }

  async #read(taskId: string): Promise<Ticket | undefined> {
    const file = await readJsonFile(this.#stateDir.ticketFile(taskId), ticketSchema);
    if (file.state === 'ok') return file.value;
    if (file.state === 'missing') return undefined;
    this.#logger.error('a ticket of the queue could not be read and was removed', { taskId, why: file.why });
    await this.remove(taskId);
    return undefined;
  }
}

interface Parts {
  readonly stateDir: StateDir;
  readonly clock: Clock;
}

/**
 * Puts all of a queued task on disk, so that any process can start it, also after a crash of the machine; `addTicket` is
 * called when all but the record is there. Returns the record as its caller gets it.
 */
export async function persistQueued(
  { spec, prompt }: { readonly spec: TaskSpec; readonly prompt: string },
  { stateDir, clock }: Parts,
  standing: Standing,
  addTicket: () => Promise<void>,
): Promise<TaskRecord> {
  const record: TaskRecord = {
    ...initialRecord({
      spec,
      prompt,
      owner: null,
      // No process carries it: the keeper makes its own.
      mark: createSecret(),
      socketPath: '',
      files: projectFilePaths(spec.worktree?.project_path ?? spec.project_path, spec.task_id),
      now: clock.now(),
    }),
    reason: 'Queued.',
  };
  await replaceFile(stateDir.promptFile(spec.task_id), prompt, { mode: OWNER_ONLY_FILE, durable: true });
  await writeJsonFileAtomically(stateDir.specFile(spec.task_id), spec);
  await addTicket();
  // Last: a process that finds it finds the ticket, too.
  await writeRecordFile(stateDir, record);
  return asQueued(record, standing);
}

/** The record of a queued task with its place in words and as a number. */
export function asQueued(record: TaskRecord, standing: Standing): TaskRecord {
  return {
    ...record,
    reason: standingWords(standing),
    ...(standing.state === 'waits' && { queue_position: standing.place }),
  };
}

/** Writes the end of a task that no keeper has. */
export async function endQueued(
  record: TaskRecord,
  status: 'killed' | 'error',
  reason: string,
  { stateDir, clock }: Parts,
): Promise<TaskRecord> {
  const ended: TaskRecord = {
    ...record,
    status,
    status_source: 'exact',
    reason,
    activity: '',
    ended_at: new Date(clock.now()).toISOString(),
    change_seq: record.change_seq + 1,
  };
  await writeRecordFile(stateDir, ended);
  return ended;
}
