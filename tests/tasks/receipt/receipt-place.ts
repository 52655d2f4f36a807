import { AllowedRoots } from '../../../src/projects/allowed-roots.js';
import { gitServices } from '../../../src/services/git-services.js';
import { StateDir } from '../../../src/store/state-dir.js';
import type { TaskRecord } from '../../../src/tasks/task.js';
import { bridgeOptions } from '../../services/bridge-options.js';
import { sampleRecord } from '../sample-task.js';
import { tempFolder } from '../../harness/temp-folder.js';

/** The receipts of one task, by default of a session of a person; its transcripts are in `folder`. */
export async function receiptPlace(more: Partial<TaskRecord> = {}) {
  const folder = await tempFolder();
  const stateDir = new StateDir(folder);
  const record = sampleRecord({ driver: 'native', status: 'completed', keeper: null, ...more });
  await stateDir.createTaskDir(record.task_id);
  const options = bridgeOptions(folder, { env: { PATH: process.env['PATH'], CLAUDE_CONFIG_DIR: folder } });
  const roots = new AllowedRoots([folder], folder);
  const receipts = gitServices(options, roots).ofTasks(stateDir);
  return {
    folder,
    stateDir,
    record,
    changes: receipts,
    receipt: () => receipts.receiptOf(record, new AbortController().signal),
  };
}
