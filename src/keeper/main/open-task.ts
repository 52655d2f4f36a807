import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Closers } from '../../base/lifecycle.js';
import { BridgeError } from '../../base/errors.js';
import { makeFolders } from '../../base/files/folders.js';
import { systemClock } from '../../base/system-clock.js';
import { ProjectLocks } from '../../store/project-lock.js';
import type { StateDir } from '../../store/state-dir.js';
import { createProjectFiles, logFolder, type ProjectFiles } from '../../tasks/project-folder.js';
import { readRecordFile, recordOf } from '../../tasks/record/record-file.js';
import { isFinal } from '../../tasks/task.js';
import type { TaskSpec } from '../../tasks/task-spec.js';
import { findAgent, type TaskAgent } from '../agent/find-agent.js';
import { TaskFiles } from './task-files.js';
import { readPlan, type KeepTaskOptions, type TaskPlan } from './task-plan.js';

/** A task that has all it needs to run. */
export interface OpenTask extends TaskPlan {
  readonly agent: TaskAgent;
  /** The files in the project, for people. */
  readonly projectFiles: Pick<ProjectFiles, 'logFile' | 'promptFile'>;
  readonly store: TaskFiles;
  readonly releaseProject: () => void;
  /** After this call its log is kept, whatever fails. */
  readonly hasStarted: () => void;
}

/** Takes the lock of the project and opens what the task needs. `closers` closes it, and removes the files of a task that has not started. */
export async function openTask(options: KeepTaskOptions, closers: Closers): Promise<OpenTask> {
  const plan = await readPlan(options);
  const { spec, socketPath } = plan;
  closers.add('the socket', () => rm(socketPath, { force: true }));
  // A question takes no lock, so it runs beside any task in the project.
  const releaseProject = spec.purpose === 'ask' ? () => undefined : await takeProject(plan);
  closers.add('the lock of the project', releaseProject);
  const agent = await findAgent(plan, closers);
  const { remove, ...projectFiles } = await makeProjectFiles(plan);
  let isStarted = false;
  closers.add('the files in the project', () => (isStarted ? undefined : remove()));
  const store = closers.owns('the files of the task', await openFiles(plan, projectFiles.logFile));
  // Only Claude Code speaks the protocol of the print driver: any other program gets a terminal, and its prompt on stdin.
  const driver = agent.installation.isClaude ? spec.driver : 'interactive';
  return {
    ...plan,
    spec: { ...spec, driver, settings: { ...spec.settings, leaves_out: agent.leavesOut } },
    agent,
    projectFiles,
    store,
    releaseProject,
    hasStarted: () => (isStarted = true),
  };
}

/** Throws TASK_ALREADY_RUNNING. The result releases the project. */
async function takeProject({ spec, stateDir, logger }: TaskPlan): Promise<() => void> {
  const locks = new ProjectLocks(stateDir.lockDir, systemClock, (corrupt) =>
    logger.error('a lock file could not be read', { ...corrupt }),
  );
  const result = await locks.acquire({ projectPath: spec.project_path, taskId: spec.task_id }, () =>
    requireNew(spec.task_id, stateDir),
  );
  if ('held' in result) return () => result.held.release();
  throw new BridgeError(
    'TASK_ALREADY_RUNNING',
    `A task is already running for project ${spec.project_path}. Existing task ID: ${result.busy.task_id} (since ${result.busy.since}).`,
    'Follow it with get_task_status or wait_for_task, send it a message with message_task, or use kill_task to terminate it first.',
  );
}

/**
 * A queued task has a record before it has a keeper. It is ended while it waits under the lock over all projects
 * alone, so that it cannot have two ends. Throws TASK_NOT_RUNNING for one that has ended, TASK_ALREADY_RUNNING for one that had a keeper.
 */
async function requireNew(taskId: string, stateDir: StateDir): Promise<void> {
  const record = recordOf(await readRecordFile(stateDir, taskId));
  if (record === undefined || (record.status === 'pending' && record.keeper === null)) return;
  const code = isFinal(record.status) ? 'TASK_NOT_RUNNING' : 'TASK_ALREADY_RUNNING';
  throw new BridgeError(
    code,
    `Task ${taskId} was ${record.status} when its keeper started: ${record.reason}`,
    'Start a new task.',
  );
}

/** A task in a worktree has its log in the project of the worktree's repository, which stays when the worktree is removed. */
function homeOf({ worktree, project_path }: TaskSpec): string {
  return worktree?.project_path ?? project_path;
}

function makeProjectFiles({ spec, stateDir, prompt }: TaskPlan): Promise<ProjectFiles> {
  const { task_id: taskId, purpose } = spec;
  if (purpose !== 'ask') return createProjectFiles(homeOf(spec), taskId, prompt);
  return Promise.resolve({
    logFile: stateDir.logFile(taskId),
    promptFile: stateDir.promptFile(taskId),
    remove: async () => {},
  });
}

function openFiles({ spec, stateDir, logger }: TaskPlan, logFile: string): Promise<TaskFiles> {
  const makeFolder = (): Promise<unknown> =>
    spec.purpose === 'ask' ? makeFolders(dirname(logFile), 0o700) : logFolder(homeOf(spec));
  return TaskFiles.open({
    stateDir,
    taskId: spec.task_id,
    logFile,
    makeLogFolder: makeFolder,
    maxBytes: spec.settings.max_log_size_bytes,
    clock: systemClock,
    logger,
  });
}
