import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/base/system-clock.js';
import { createTaskId } from '../../src/base/ids.js';
import { writeJsonFileAtomically } from '../../src/base/files/json-file.js';
import { KeeperHost } from '../../src/keeper/host/keeper-host.js';
import { ProjectLocks } from '../../src/store/project-lock.js';
import { openRuntimeDir } from '../../src/store/runtime-dir.js';
import { openStateDir } from '../../src/store/state-dir.js';
import type { TaskRecord } from '../../src/tasks/task.js';
import type { TaskSpec } from '../../src/tasks/task-spec.js';
import { sampleSpec } from '../tasks/sample-task.js';
import type { TestBridge } from './start-bridge.js';

/**
 * Starts a task in the bridge's state as its server does, with the built keeper, but with any spec: for limits that are
 * shorter than a caller may ask for.
 */
export async function launchSpec(
  bridge: TestBridge,
  prompt: string,
  overrides: Partial<Omit<TaskSpec, 'settings'>>,
  /** For the Node that runs the keeper. */
  nodeArguments: readonly string[] = [],
): Promise<TaskRecord> {
  const { stateDir: statePath } = bridge.workplace;
  const stateDir = await openStateDir({ path: statePath });
  const runtimeDir = await openRuntimeDir(stateDir.path, { tmpDir: bridge.env['TMPDIR'] ?? '/tmp' });
  const spec = sampleSpec({
    task_id: createTaskId(Date.now()),
    project_path: bridge.project,
    permission_mode: 'auto',
    created_at: new Date().toISOString(),
    ...overrides,
    settings: { claude_command: [bridge.env['MCP_CLAUDE_COMMAND'] ?? ''] },
  });
  await stateDir.createTaskDir(spec.task_id);
  await writeFile(stateDir.promptFile(spec.task_id), prompt);
  await writeJsonFileAtomically(stateDir.specFile(spec.task_id), spec);
  const keeperEntry = fileURLToPath(new URL('../../dist/keeper.js', import.meta.url));
  const places = { statePath: stateDir.path, runtimePath: runtimeDir.path };
  const locks = new ProjectLocks(stateDir.lockDir, systemClock, () => undefined);
  const taken = await locks.acquire({ projectPath: spec.project_path, taskId: spec.task_id });
  if ('busy' in taken) throw new Error(`the project is held by ${taken.busy.task_id}`);
  const host = new KeeperHost({ keeperEntry, nodeArguments, ...places, env: bridge.env });
  return host.launch(spec, taken.held).finally(() => taken.held.release());
}
