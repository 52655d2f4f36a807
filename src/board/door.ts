import { lstat } from 'node:fs/promises';
import { z } from 'zod';
import { systemCodeOf } from '../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import { isPrivate } from '../store/private-folder.js';
import { newSecret } from './access.js';

const TOKEN_LIFE_MS = 30 * 24 * 3_600_000;

/** `board/door.key`: how the pages of the last board find the next one, and are let in. */
const doorSchema = z.object({
  token: z.string().min(1).max(100),
  made_at_ms: z.number(),
  port: z.int().min(1).max(65_535),
});

export interface DoorOptions {
  readonly file: string;
  /** 0 for the port of the last board where that is free, else any free one. A port that was asked for is taken as it is. */
  readonly port: number;
  readonly isNew: boolean;
  readonly nowMs: number;
}

/** Starts a board with the token of the last one, unless that is 30 days old, and at its port. Rejects as `start` does. */
export async function throughDoor<T extends { readonly port: number }>(
  { file, port: wanted, isNew, nowMs }: DoorOptions,
  start: (port: number, token: string) => Promise<T>,
): Promise<T> {
  const last = await readDoor(file);
  const isGood = !isNew && last !== undefined && Math.abs(nowMs - last.made_at_ms) < TOKEN_LIFE_MS;
  const fresh = { token: newSecret(), made_at_ms: nowMs };
  let door = isGood ? last : fresh;
  const first = wanted === 0 ? (last?.port ?? 0) : wanted;
  const started = await start(first, door.token).catch((error: unknown) => {
    if (first === wanted || systemCodeOf(error) !== 'EADDRINUSE') throw error;
    // No page of before comes here, and what has the port may have been told their token.
    door = fresh;
    return start(wanted, fresh.token);
  });
  await writeJsonFileAtomically(file, { ...door, port: started.port }, { durable: false });
  return started;
}

/** What the last board wrote; undefined also for a file that others could read or have put there. */
export async function readDoor(file: string): Promise<z.infer<typeof doorSchema> | undefined> {
  const facts = await lstat(file).catch(() => undefined);
  if (facts === undefined || !isPrivate(facts)) return undefined;
  const read = await readJsonFile(file, doorSchema);
  return read.state === 'ok' ? read.value : undefined;
}
