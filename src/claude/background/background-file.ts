import { join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../../base/clock.js';
import { readJsonFile } from '../../base/files/json-file.js';
import { BackgroundCli, backgroundPlaceSchema } from './background-cli.js';
import { endBackground } from './end-background.js';

/** In the task's folder, from before the session is started: by it another process ends the session when the keeper is gone. */
export const BACKGROUND_FILE = 'background.json';
const fileSchema = z.object({ name: z.string(), id: z.string().optional(), place: backgroundPlaceSchema });
export type BackgroundFile = z.infer<typeof fileSchema>;

/**
 * Ends the background session of the task in that folder, if it has one. Resolves with the number of its processes that still ran.
 * Rejects when Claude Code does not list its sessions.
 */
export async function endBackgroundIn(taskFolder: string, clock: Clock): Promise<number> {
  const file = await readJsonFile(join(taskFolder, BACKGROUND_FILE), fileSchema);
  if (file.state !== 'ok') return 0;
  const { place, ...named } = file.value;
  return (await endBackground(new BackgroundCli(place), named, clock)).processes;
}
