import { join } from 'node:path';
import { z } from 'zod';
import { readJsonFile } from '../base/files/json-file.js';
import { pidOf, type Pid } from '../os/pid.js';

const statusSchema = z.looseObject({ pid: z.number().optional(), sessionId: z.string(), status: z.string() });
type StatusFile = z.infer<typeof statusSchema>;

/**
 * What Claude Code says of a session in `sessions/<pid>.json` of its folder. The file is not documented: it is a hint, and what
 * depends on it must also be right without it.
 */
export class SessionStatus {
  readonly #folder: string;
  readonly #sessionId: string;
  /** Of this process: the session's is one of them, also when another process has the same session. */
  #pids: Iterable<number>;

  constructor(claudeFolder: string, sessionId: string, ancestors: Iterable<number>) {
    this.#folder = join(claudeFolder, 'sessions');
    this.#sessionId = sessionId;
    this.#pids = ancestors;
  }

  /** `waiting` while a dialog stands; undefined where it is not known. Never rejects. */
  async read(): Promise<'waiting' | 'other' | undefined> {
    const status = (await this.#find())?.status;
    return status === undefined || status === 'waiting' ? status : 'other';
  }

  /** The process of the session, where it is known. Never rejects. */
  async pid(): Promise<Pid | undefined> {
    return pidOf((await this.#find())?.pid);
  }

  async #find(): Promise<StatusFile | undefined> {
    try {
      for (const pid of this.#pids) {
        const file = await readJsonFile(join(this.#folder, `${pid}.json`), statusSchema);
        if (file.state !== 'ok' || file.value.sessionId !== this.#sessionId || file.value.pid !== pid)
          continue;
        this.#pids = [pid];
        return file.value;
      }
    } catch {
      // Another version of Claude Code, or none of its files may be read.
    }
    return undefined;
  }
}
