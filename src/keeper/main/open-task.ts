import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Closers } from '../../base/lifecycle.js';
import { BridgeError } from '../../base/errors.js';
import { makeFolders } from '../../base/files/folders.js';
import { systemClock } from '../../base/system-clock.js';
import { ProjectLocks } from '../../store/project-lock.js';
import { createProjectFiles, logFolder, type ProjectFiles } from '../../tasks/project-folder.js';
import { readRecordFile, recordOf } from '../../tasks/record/record-file.js';
import { isFinal } from '../../tasks/task.js';
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
  const { spec, socketPath, stateDir, logger, prompt } = plan;
  const { task_id: taskId } = spec;
  const isQuestion = spec.purpose === 'ask';
  closers.add('the socket', () => rm(socketPath, { force: true }));
  // A question takes no lock, so it runs beside any task in the project.
  const releaseProject = isQuestion ? () => undefined : await takeProject(plan);
  closers.add('the lock of the project', releaseProject);
  const agent = await findAgent(plan, closers);
  // A task in a worktree has its log in the project of the worktree's repository, which stays when the worktree is removed.
  const home = spec.worktree?.project_path ?? spec.project_path;
  const ownFiles = { logFile: stateDir.logFile(taskId), promptFile: stateDir.promptFile(taskId) };
  const { remove, ...projectFiles } = isQuestion
    ? { ...ownFiles, remove: undefined }
    : await createProjectFiles(home, taskId, prompt);
  let isStarted = false;
  closers.add('the files in the project', () => (isStarted ? undefined : remove?.()));
  const { logFile } = projectFiles;
  const files = await TaskFiles.open({
    stateDir,
    taskId,
    logFile,
    makeLogFolder: () => (isQuestion ? makeFolders(dirname(logFile), 0o700) : logFolder(home)),
    maxBytes: spec.settings.max_log_size_bytes,
    clock: systemClock,
    logger,
  });
  // Only Claude Code speaks the protocol of the print driver: any other program gets a terminal, and its prompt on stdin.
  const driver = agent.installation.isClaude ? spec.driver : 'interactive';
  return {
    ...plan,
    spec: { ...spec, driver, settings: { ...spec.settings, leaves_out: agent.leavesOut } },
    agent,
    projectFiles,
    store: closers.owns('the files of the task', files),
    releaseProject,
    hasStarted: () => (isStarted = true),
  };
}

/** Throws TASK_ALREADY_RUNNING, and as `requireNew`. The result releases the project. */
async function takeProject(plan: TaskPlan): Promise<() => void> {
  const { project_path: projectPath, task_id: taskId } = plan.spec;
  const locks = new ProjectLocks(plan.stateDir.lockDir, systemClock, (corrupt) =>
    plan.logger.error('a lock file could not be read', { ...corrupt }),
  );
  const result = await locks.acquire({ projectPath, taskId }, () => requireNew(plan));
  if ('held' in result) return () => result.held.release();
  throw new BridgeError(
    'TASK_ALREADY_RUNNING',
    `A task is already running for project ${projectPath}. Existing task ID: ${result.busy.task_id} (since ${result.busy.since}).`,
    [
      { do: 'wait', task: result.busy.task_id },
      { do: 'message', task: result.busy.task_id },
      { do: 'end', task: result.busy.task_id },
    ],
  );
}

/**
 * A queued task has a record before it has a keeper. It is ended while it waits under the lock over all projects
 * alone, so that it cannot have two ends. Throws TASK_NOT_RUNNING for one that has ended, TASK_ALREADY_RUNNING for one that had a keeper.
 */
async function requireNew({ spec: { task_id: taskId }, stateDir }: TaskPlan): Promise<void> {
  const record = recordOf(await readRecordFile(stateDir, taskId));
  if (record === undefined || (record.status === 'pending' && record.keeper === null)) return;
  throw new BridgeError(
    isFinal(record.status) ? 'TASK_NOT_RUNNING' : 'TASK_ALREADY_RUNNING',
    `Task ${taskId} was ${record.status} when its keeper started: ${record.reason}`,
    'Start a new task.',
  );
}
