import { join } from 'node:path';
import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import { readSettingsFile } from '../../base/files/json-file.js';
import { isWithin } from '../../projects/path-in-project.js';
import type { TaskSpec } from '../../tasks/task-spec.js';

const rows = z.array(z.unknown()).max(0).optional();
/** Settings in which nothing narrows what the session may do. */
const withoutRulesSchema = z.looseObject({
  permissions: z.looseObject({ deny: rows, ask: rows }).optional(),
});

/** Whether a session starts with the person's own settings of Claude Code. */
export function usesOwnSettings({
  permission_mode,
  project_path,
  worktree,
  settings,
}: Pick<TaskSpec, 'permission_mode' | 'project_path' | 'worktree' | 'settings'>): boolean {
  const project = worktree?.project_path ?? project_path;
  return (
    permission_mode === 'auto' ||
    !(settings.without_own_hooks ?? []).some((folder) => isWithin(project, folder))
  );
}

/** Throws TASK_START_FAILED for settings with rules that deny or ask, or that cannot be read: these rules would not apply. */
export async function checkLeftOutSettings(configDir: string): Promise<void> {
  const file = join(configDir, 'settings.json');
  if ((await readSettingsFile(file, withoutRulesSchema)).state !== 'corrupt') return;
  throw new BridgeError(
    'TASK_START_FAILED',
    `own_hooks is false for this project (setting projects), so Claude Code starts without ${file}, which has rules that deny or ask, or cannot be read: they would not apply.`,
    'Ask the user to move these rules into the setting rules of the bridge, or to take own_hooks away.',
  );
}
