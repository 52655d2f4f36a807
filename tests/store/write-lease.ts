import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessIdentity } from '../../src/store/process-place.js';

/** A process of an earlier boot. */
export const deadProcess: ProcessIdentity = { pid: 1, start_time: 'never', boot_id: 'an earlier boot' };

/** Writes the lease of another process, as that process would have. Returns its path. */
export async function writeLease(
  lockDir: string,
  lease: {
    readonly projectPath: string;
    readonly taskId: string;
    readonly owner: ProcessIdentity;
    readonly reserved?: boolean;
  },
): Promise<string> {
  const { projectPath, taskId, owner, reserved = false } = lease;
  const name = createHash('sha256').update(projectPath).digest('hex');
  const path = join(lockDir, name);
  const since = '2026-01-01T00:00:00.000Z';
  const content = { version: 1, project_path: projectPath, task_id: taskId, owner, since, reserved };
  await writeFile(path, JSON.stringify(content));
  return path;
}
