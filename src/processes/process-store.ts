import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BridgeError, ignoreMissing, messageOf } from '../base/errors.js';
import { PROCESS_ID_PATTERN } from '../base/ids.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import { ensurePrivateFolder } from '../store/private-folder.js';
import { processRecordSchema, type ProcessRecord } from './process-record.js';

const OWNER_ONLY_FOLDER = 0o700;

/** The folders of processes in the state directory: `processes/<id>/` with `record.json` and the files of the output. */
export class ProcessStore {
  readonly path: string;

  constructor(statePath: string) {
    this.path = join(statePath, 'processes');
  }

  /** Of an id that fits PROCESS_ID_PATTERN: nothing else may become part of a path. */
  folder(id: string): string {
    if (!PROCESS_ID_PATTERN.test(id)) throw new Error(`${JSON.stringify(id)} is no id of a process.`);
    return join(this.path, id);
  }

  /**
   * Makes the folder with its first record: a sweep must know of a process before it runs. Throws STATE_UNUSABLE; nothing is left
   * then.
   */
  async create(record: ProcessRecord): Promise<string> {
    await ensurePrivateFolder(this.path, process.getuid?.() ?? 0, 'Set MCP_STATE_DIR.');
    const folder = this.folder(record.process_id);
    try {
      await mkdir(folder, { mode: OWNER_ONLY_FOLDER });
      await this.write(record);
      return folder;
    } catch (error) {
      await this.remove(record.process_id);
      throw new BridgeError(
        'STATE_UNUSABLE',
        `The process was not started, since its record cannot be written. ${messageOf(error)}`,
        'Make room on the disk of the state directory, and check that it is yours and writable.',
        { cause: error },
      );
    }
  }

  async write(record: ProcessRecord): Promise<void> {
    await writeJsonFileAtomically(this.#file(record.process_id), record, { durable: false });
  }

  /** Undefined when there is none of that id, or none that can be read. */
  async read(id: string): Promise<ProcessRecord | undefined> {
    if (!PROCESS_ID_PATTERN.test(id)) return undefined;
    const file = await readJsonFile(this.#file(id), processRecordSchema);
    return file.state === 'ok' ? file.value : undefined;
  }

  /** All records that can be read, the youngest process first. */
  async all(): Promise<ProcessRecord[]> {
    const names = (await readdir(this.path).catch(ignoreMissing)) ?? [];
    const records = await Promise.all(names.map((name) => this.read(name)));
    return records
      .filter((record) => record !== undefined)
      .sort((a, b) => (a.started_at < b.started_at ? 1 : -1));
  }

  /** Bytes of all files of a process. */
  async size(id: string): Promise<number> {
    const folder = this.folder(id);
    const names = (await readdir(folder).catch(ignoreMissing)) ?? [];
    const facts = await Promise.all(names.map((name) => stat(join(folder, name)).catch(ignoreMissing)));
    return facts.reduce((sum, one) => sum + (one?.size ?? 0), 0);
  }

  async remove(id: string): Promise<void> {
    await rm(this.folder(id), { recursive: true, force: true });
  }

  #file(id: string): string {
    return join(this.folder(id), 'record.json');
  }
}
