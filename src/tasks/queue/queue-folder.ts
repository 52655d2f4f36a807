import { readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BridgeError, messageOf, systemCodeOf } from '../../base/errors.js';
import { TASK_ID_PATTERN } from '../../base/ids.js';
import { readJsonFile, writeJsonFileAtomically } from '../../base/files/json-file.js';
import type { Logger } from '../../base/logger.js';
import { makeFolders } from '../../base/files/make-folders.js';
import type { StateDir } from '../../store/state-dir.js';
import { ticketSchema, type Ticket } from './queue-ticket.js';

const OWNER_ONLY = 0o700;
const SUFFIX = '.json';
/** What `writeJsonFileAtomically` leaves when its process is killed. */
const UNFINISHED = /^\..*\.tmp$/;

/** The tickets on disk. They are read in a critical section over the locks where a start depends on them. */
export class QueueFolder {
  readonly #stateDir: StateDir;
  readonly #logger: Logger;
  /** A ticket never changes: each is read once. */
  #known = new Map<string, Ticket>();
  #unfinished: readonly string[] = [];

  constructor(stateDir: StateDir, logger: Logger) {
    this.#stateDir = stateDir;
    this.#logger = logger;
  }

  /** In no order. One that cannot be read is set aside and reported. Throws STATE_UNUSABLE when the disk does not let it. */
  async tickets(): Promise<Ticket[]> {
    const known = new Map<string, Ticket>();
    for (const taskId of await this.#ids()) {
      const ticket = this.#known.get(taskId) ?? (await this.#read(taskId));
      if (ticket !== undefined) known.set(taskId, ticket);
    }
    this.#known = known;
    return [...known.values()];
  }

  /** Whether the last read found a ticket that is being written, or whose writer was killed. */
  get hasUnfinished(): boolean {
    return this.#unfinished.length > 0;
  }

  /** Removes what the last read found unfinished. Only in a critical section that began before it: no other process writes a ticket then. */
  async removeUnfinished(): Promise<void> {
    for (const name of this.#unfinished) await rm(join(this.#stateDir.queueDir, name), { force: true });
    this.#unfinished = [];
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

  async #ids(): Promise<string[]> {
    let names: string[];
    try {
      names = await readdir(this.#stateDir.queueDir);
    } catch (error) {
      this.#unfinished = [];
      if (systemCodeOf(error) === 'ENOENT') return [];
      throw new BridgeError(
        'STATE_UNUSABLE',
        `The queue ${this.#stateDir.queueDir} cannot be read: ${messageOf(error)}.`,
        'Check that the folder is yours; MCP_STATE_DIR names another place.',
        { cause: error },
      );
    }
    this.#unfinished = names.filter((name) => UNFINISHED.test(name));
    return names
      .filter((name) => name.endsWith(SUFFIX))
      .map((name) => name.slice(0, -SUFFIX.length))
      .filter((id) => TASK_ID_PATTERN.test(id));
  }

  async #read(taskId: string): Promise<Ticket | undefined> {
    const path = this.#stateDir.ticketFile(taskId);
    const file = await readJsonFile(path, ticketSchema);
    if (file.state === 'ok') return file.value;
    if (file.state === 'missing') return undefined;
    this.#logger.error('a ticket of the queue could not be read and was set aside', { path, why: file.why });
    await rename(path, `${path}.corrupt`).catch((error: unknown) => {
      // Another process was faster, or the disk takes nothing: then it is reported again at the next read.
      if (systemCodeOf(error) === undefined) throw error;
    });
    return undefined;
  }
}
