// Pure.
import { join } from 'node:path';
import { z } from 'zod';
import { processIdentitySchema } from '../store/process-place.js';

/** The mutex in its folder that the board's process holds as long as it lives. */
export const BOARD_LOCK = 'lock';

/** Where the board of a state directory is found. */
export interface BoardPlace {
  readonly folder: string;
  readonly discoveryFile: string;
  /** What lets the pages of the last board into the next one: see door.ts. */
  readonly doorFile: string;
  readonly logFile: string;
}

export function boardPlace(statePath: string): BoardPlace {
  const folder = join(statePath, 'board');
  return {
    folder,
    discoveryFile: join(folder, 'board.json'),
    // Rules about secrets hold for a file of this name.
    doorFile: join(folder, 'door.key'),
    logFile: join(folder, 'board.log'),
  };
}

/** `board/board.json`: the board that runs. It holds no secret. */
export const discoverySchema = z.object({
  version: z.string(),
  board_id: z.string(),
  port: z.int().positive(),
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

/** A link that opens one page, and the board that it leads to. */
export interface BoardLink {
  readonly url: string;
  readonly port: number;
  readonly board_id: string;
  /** Of the package that the board is part of. */
  readonly version: string;
}
