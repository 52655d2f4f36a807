import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { systemCodeOf } from '../../../src/base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../../../src/base/files/json-file.js';
import { ensurePrivateFolder } from '../../../src/store/private-folder.js';
import { identityOf, processState } from '../../../src/store/process-identity.js';
import { processIdentitySchema } from '../../../src/store/process-place.js';

const FILE_NAME = /^(\d+)\.json$/;
const MAX_FILE_BYTES = 64 * 1024;
const HINT = 'Repair it, or choose another folder with claudeTerminalBridge.stateDir.';

const keptSchema = z.object({
  terminal_id: z.string(),
  name: z.string(),
  created_by: z.string(),
  created_at: z.string(),
  cwd: z.string().nullable(),
  shell: z.string().nullable(),
  /** The shell: a terminal with this process is the same one. */
  process: processIdentitySchema,
});
export type KeptTerminal = z.infer<typeof keptSchema>;

/** `editors/terminals/<pid>.json`: the terminals of programs, for the window that shows them after it was loaded again. */
export class KeptTerminals {
  readonly #folder: string;

  constructor(statePath: string) {
    this.#folder = join(statePath, 'editors', 'terminals');
  }

  /** Does nothing when the process has ended. Throws STATE_UNUSABLE. */
  async keep(pid: number, facts: Omit<KeptTerminal, 'process'>): Promise<void> {
    const identity = await identityOf(pid);
    if (identity === undefined) return;
    await ensurePrivateFolder(this.#folder, process.getuid?.() ?? 0, HINT);
    const kept: KeptTerminal = { ...facts, process: identity };
    await writeJsonFileAtomically(this.#file(pid), kept, { durable: false });
  }

  /** The terminal whose shell is that very process. */
  async find(pid: number): Promise<KeptTerminal | undefined> {
    const kept = await this.#read(this.#file(pid));
    return kept !== undefined && kept.process.pid === pid && (await processState(kept.process)) === 'alive'
      ? kept
      : undefined;
  }

  /** Removes those whose process is gone. */
  async sweep(): Promise<void> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      if (systemCodeOf(error) === 'ENOENT') return [];
      throw error;
    });
    for (const name of names.filter((one) => FILE_NAME.test(one))) {
      const kept = await this.#read(join(this.#folder, name));
      if (kept === undefined || (await processState(kept.process)) === 'gone')
        await rm(join(this.#folder, name), { force: true });
    }
  }

  #file(pid: number): string {
    return join(this.#folder, `${pid}.json`);
  }

  async #read(file: string): Promise<KeptTerminal | undefined> {
    const facts = await lstat(file).catch(() => undefined);
    if (facts?.uid !== (process.getuid?.() ?? facts?.uid) || facts?.isFile() !== true) return undefined;
    const read = await readJsonFile(file, keptSchema, MAX_FILE_BYTES);
    return read.state === 'ok' ? read.value : undefined;
  }
}
