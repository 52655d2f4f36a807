import { writeFile } from 'node:fs/promises';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/system-clock.js';
import { createTaskId } from '../../src/base/ids.js';
import { writeJsonFileAtomically } from '../../src/base/files/json-file.js';
import { KeeperHost } from '../../src/keeper/host/keeper-host.js';
import { ProjectLocks } from '../../src/store/project-lock.js';
import { openRuntimeDir } from '../../src/store/runtime-dir.js';
import { openStateDir } from '../../src/store/state-dir.js';
import type { TaskHost } from '../../src/tasks/task-host.js';
import type { TaskSpec } from '../../src/tasks/task-spec.js';
import { bundledProgram } from '../harness/bundled-program.js';
import { scriptedAgent } from '../harness/scripted-agent.js';
import { createWorkplace, type Workplace } from '../harness/workplace.js';
import { sampleSpec } from '../tasks/sample-task.js';

/** See `bundledProgram`: to be called by each file of tests, whose keepers it makes. */
export function bundleKeeper(): () => string {
  return bundledProgram(new URL('../../src/keeper/main/keeper-main.ts', import.meta.url));
}

interface HostUnderTest {
  readonly host: TaskHost;
  /** Takes the project and hands it over, as a server does. */
  readonly launch: TaskHost['launch'];
  readonly workplace: Workplace;
  readonly project: string;
  readonly stateDir: string;
  /** Pids of all that the host has started. */
  readonly processes: () => Promise<number[]>;
  readonly runtimePath: string;
  /** Writes spec and prompt where a host finds them. */
  readonly prepare: (prompt: string, overrides?: Partial<TaskSpec>) => Promise<TaskSpec>;
}

/** A host with a workplace of its own, in which the scripted agent is the program of every task. */
export async function openHost({ keeperEntry }: { readonly keeperEntry: string }): Promise<HostUnderTest> {
  const workplace = await createWorkplace();
  onTestFinished(async ({ task }) => {
    try {
      if (task.result?.state !== 'fail') await workplace.settled();
    } finally {
      await workplace.remove();
    }
  });
  const project = await workplace.project('app');
  const stateDir = await openStateDir({ path: workplace.stateDir });
  const runtimeDir = await openRuntimeDir(stateDir.path);
  const host = new KeeperHost({
    keeperEntry,
    nodeArguments: [],
    statePath: stateDir.path,
    runtimePath: runtimeDir.path,
    env: workplace.env,
    logLevel: 'debug',
  });
  const locks = new ProjectLocks(stateDir.lockDir, systemClock, () => undefined);
  return {
    host,
    launch: async (spec) => {
      const taken = await locks.acquire({ projectPath: project, taskId: spec.task_id });
      if ('busy' in taken) throw new Error(`the project is held by ${taken.busy.task_id}`);
      return host.launch(spec, taken.held).finally(() => taken.held.release());
    },
    workplace,
    runtimePath: runtimeDir.path,
    project,
    stateDir: stateDir.path,
    processes: () => workplace.processes(),
    prepare: async (prompt, overrides = {}) => {
      const spec = sampleSpec({
        task_id: createTaskId(Date.now()),
        project_path: project,
        permission_mode: 'auto',
        ...overrides,
        settings: { claude_command: [scriptedAgent], ...overrides.settings },
      });
      await stateDir.createTaskDir(spec.task_id);
      await writeFile(stateDir.promptFile(spec.task_id), prompt);
      await writeJsonFileAtomically(stateDir.specFile(spec.task_id), spec);
      return spec;
    },
  };
}
