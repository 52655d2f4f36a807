import { onTestFinished } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import { systemClock } from '../../src/base/system-clock.js';
import { TaskFiles, type TaskFilesOptions } from '../../src/keeper/main/task-files.js';
import { openStateDir } from '../../src/store/state-dir.js';
import { TASK_ID } from '../tasks/sample-task.js';

/** The files of a running task, whose state is below `statePath`, and the path of its recording. */
export async function openTaskFiles(
  options: Pick<TaskFilesOptions, 'logFile' | 'maxBytes'> & { readonly statePath: string },
): Promise<{ readonly files: TaskFiles; readonly recordingFile: string }> {
  const stateDir = await openStateDir({ path: options.statePath });
  await stateDir.createTaskDir(TASK_ID);
  const makeLogFolder = (): Promise<never> => Promise.reject(new Error('it cannot be made'));
  const parts = { stateDir, taskId: TASK_ID, makeLogFolder, clock: systemClock, logger: silentLogger };
  const files = await TaskFiles.open({ ...options, ...parts });
  onTestFinished(async () => {
    await files.finish(0);
    files.dispose();
  });
  return { files, recordingFile: stateDir.recordingFile(TASK_ID) };
}
