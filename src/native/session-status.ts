import { join } from 'node:path';
import { z } from 'zod';
import { readJsonFile } from '../base/files/json-file.js';
import { pidOf, type Pid } from '../os/pid.js';

const statusSchema = z.looseObject({ pid: z.number().optional(), sessionId: z.string(), status: z.string() });

export interface SessionStatus {
  /** `waiting` while a dialog stands; undefined where it is not known. Never rejects. */
  read(): Promise<'waiting' | 'other' | undefined>;
  /** The process of the session, where it is known. Never rejects. */
  pid(): Promise<Pid | undefined>;
}

/**
 * What Claude Code says of a session in `sessions/<pid>.json` of its folder. The file is not documented: it is a hint, and what
 * depends on it must also be right without it. `ancestors` are those of this process: the session's is one of them, also when another
 * process has the same session.
 */
export function sessionStatus(folder: string, id: string, ancestors: Iterable<number>): SessionStatus {
  let pids = ancestors;
  const find = async (): Promise<z.infer<typeof statusSchema> | undefined> => {
    try {
      for (const pid of pids) {
        const file = await readJsonFile(join(folder, 'sessions', `${pid}.json`), statusSchema);
        if (file.state !== 'ok' || file.value.sessionId !== id || file.value.pid !== pid) continue;
        pids = [pid];
        return file.value;
      }
    } catch {
      // Another version of Claude Code, or none of its files may be read.
    }
    return undefined;
  };
  return {
    read: async () => {
      const status = (await find())?.status;
      return status === undefined || status === 'waiting' ? status : 'other';
    },
    pid: async () => pidOf((await find())?.pid),
  };
}
