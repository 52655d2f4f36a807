import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readJsonFile } from '../base/files/json-file.js';

const MAX_FILES = 500;
const statusSchema = z.looseObject({ pid: z.number().optional(), sessionId: z.string(), status: z.string() });
type StatusFile = z.infer<typeof statusSchema>;

/**
 * What Claude Code says of a session in `sessions/<pid>.json` of its folder. The file is not documented: it is a hint, and what
 * depends on it must also be right without it.
 */
export class SessionStatus {
  readonly #folder: string;
  readonly #sessionId: string;
  /** The file of the session, once it was found. */
  #path: string | undefined;

  constructor(claudeFolder: string, sessionId: string) {
    this.#folder = join(claudeFolder, 'sessions');
    this.#sessionId = sessionId;
  }

  /** `waiting` while a dialog stands; undefined where it is not known. Never rejects. */
  async read(): Promise<'waiting' | 'other' | undefined> {
    const status = (await this.#find())?.status;
    if (status === undefined) return undefined;
    return status === 'waiting' ? 'waiting' : 'other';
  }

  /** The process of the session, where it is known. Never rejects. */
  async pid(): Promise<number | undefined> {
    return (await this.#find())?.pid;
  }

  async #find(): Promise<StatusFile | undefined> {
    try {
      if (this.#path !== undefined) return await this.#readFile(this.#path);
      const names = (await readdir(this.#folder)).filter((name) => name.endsWith('.json'));
      for (const name of names.slice(0, MAX_FILES)) {
        const path = join(this.#folder, name);
        const found = await this.#readFile(path);
        if (found === undefined) continue;
        this.#path = path;
        return found;
      }
    } catch {
      // Another version of Claude Code, or none of its files may be read.
    }
    return undefined;
  }

  async #readFile(path: string): Promise<StatusFile | undefined> {
    const file = await readJsonFile(path, statusSchema);
    return file.state === 'ok' && file.value.sessionId === this.#sessionId ? file.value : undefined;
  }
}
