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

export interface BackgroundLeftover {
  /** How many processes of the session still ran. */
  readonly processes: number;
  /** True while the session may still appear: the keeper was killed before it knew of it. */
  readonly mayAppear: boolean;
}

/** Ends the background session of the task in that folder, if it has one. Rejects when Claude Code does not list its sessions. */
export async function endBackgroundIn(taskFolder: string, clock: Clock): Promise<BackgroundLeftover> {
  const file = await readJsonFile(join(taskFolder, BACKGROUND_FILE), fileSchema);
  if (file.state !== 'ok') return { processes: 0, mayAppear: false };
  const { place, ...named } = file.value;
  const { processes } = await endBackground(new BackgroundCli(place), named, clock);
  return { processes, mayAppear: named.id === undefined };
}
