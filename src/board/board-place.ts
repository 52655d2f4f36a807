// Pure.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { processIdentitySchema } from '../store/process-place.js';

const DIGITS = 12;
/** The mutex in its folder that the board's process holds as long as it lives. */
export const BOARD_LOCK = 'lock';

/** Where the board of a state directory is found. */
export interface BoardPlace {
  readonly folder: string;
  readonly discoveryFile: string;
  /** What lets the pages of the last board into the next one: see door.ts. */
  readonly doorFile: string;
  readonly logFile: string;
  /** The command and the tool ask for links here. */
  readonly socketPath: string;
}

export function boardPlace(statePath: string, runtimePath: string): BoardPlace {
  const folder = join(statePath, 'board');
  const name = createHash('sha256').update(statePath).digest('hex').slice(0, DIGITS);
  return {
    folder,
    discoveryFile: join(folder, 'board.json'),
    // Rules about secrets hold for a file of this name.
    doorFile: join(folder, 'door.key'),
    logFile: join(folder, 'board.log'),
    socketPath: join(runtimePath, `board-${name}.sock`),
  };
}

/** `board/board.json`: the board that runs. It holds no secret. */
export const discoverySchema = z.object({
  version: z.string(),
  board_id: z.string(),
  port: z.int().positive(),
  /** Where it answers; another process may have another runtime folder. Older boards leave it out. */
  socket_path: z.string().optional(),
  owner: processIdentitySchema,
});
export type Discovery = z.infer<typeof discoverySchema>;

/** What a process says instead of its id when another one is the board already. */
export const ANOTHER_BOARD = 'another';

/** What the board's process reads from its stdin. */
export const boardInputSchema = z.object({
  homeDir: z.string(),
  cwd: z.string(),
  configPath: z.string().optional(),
  command: z.string(),
  keeperEntry: z.string(),
  /** Of the page; 0 chooses a free one. */
  port: z.int().min(0).max(65_535),
  /** Pages that are open are let in no longer. */
  new_token: z.boolean(),
});
export type BoardInput = z.infer<typeof boardInputSchema>;

/** What a board answers on its socket. */
export const linkAnswerSchema = z.object({
  url: z.string(),
  port: z.int(),
  board_id: z.string(),
  /** Of the package that the board is part of. */
  version: z.string(),
});
export type BoardLink = z.infer<typeof linkAnswerSchema>;
