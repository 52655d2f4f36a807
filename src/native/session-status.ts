import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readJsonFile } from '../base/files/json-file.js';

const MAX_FILES = 500;
const statusSchema = z.looseObject({ sessionId: z.string(), status: z.string() });

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
    try {
      if (this.#path !== undefined) return await this.#readFile(this.#path);
      const names = (await readdir(this.#folder)).filter((name) => name.endsWith('.json'));
      for (const name of names.slice(0, MAX_FILES)) {
        const path = join(this.#folder, name);
        const status = await this.#readFile(path);
        if (status === undefined) continue;
        this.#path = path;
        return status;
      }
    } catch {
      // Another version of Claude Code, or none of its files may be read.
    }
    return undefined;
  }

  async #readFile(path: string): Promise<'waiting' | 'other' | undefined> {
    const file = await readJsonFile(path, statusSchema);
    if (file.state !== 'ok' || file.value.sessionId !== this.#sessionId) return undefined;
    return file.value.status === 'waiting' ? 'waiting' : 'other';
  }
}
