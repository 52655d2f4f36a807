// Pure: the settings of a background session.
import { z } from 'zod';

const settingsSchema = z.looseObject({ env: z.record(z.string(), z.string()).default({}) });

/**
 * Adds to the settings of the hooks what a background session needs: its variables, and that it works in its folder. Otherwise it
 * refuses to edit files in a git repository before it has made a worktree.
 */
export function backgroundSettings(hooks: string, variables: Readonly<Record<string, string>>): string {
  const { env, ...settings } = settingsSchema.parse(JSON.parse(hooks));
  return JSON.stringify({
    ...settings,
    env: { ...env, ...variables },
    worktree: { bgIsolation: 'none' },
  });
}
